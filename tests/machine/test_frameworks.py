"""Libraries that are not installed here, and threads that raise: expectations written by hand.

Each program is one for which the line that raises, if any, is marked by a comment `# second`.
"""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.exploring import analyse

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn

"""

PROGRAMS: dict[str, str] = {
    "accelerate": """
from accelerate import Accelerator

accelerator = Accelerator()
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)
for _ in range(2):
    with accelerator.accumulate(model), accelerator.autocast():
        loss = model(torch.randn(4, 2)).pow(2).mean()
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
accelerator.unwrap_model(model)(torch.randn(4, 2)).mean().backward()
accelerator.backward(loss)  # second
""",
    "accelerate-carries-a-state": """
from accelerate import Accelerator

accelerator = Accelerator()
cell = accelerator.prepare(nn.RNNCell(2, 3))
h = torch.zeros(1, 3)
for _ in range(3):
    h = cell(torch.randn(1, 2), h)
    accelerator.backward(h.sum())  # second
""",
    "fabric": """
from lightning.fabric import Fabric

fabric = Fabric(accelerator="cpu")
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = fabric.setup(model, optimizer)
for _ in range(2):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 2)).pow(2).mean()
    fabric.backward(loss)
    fabric.clip_gradients(model, optimizer, max_norm=1.0)
    optimizer.step()
fabric.backward(loss)  # second
""",
    "fabric-loader": """
from lightning.fabric import Fabric
from torch.utils.data import DataLoader, TensorDataset

fabric = Fabric()
encoder = nn.Linear(2, 3)
data = TensorDataset(torch.tanh(encoder(torch.randn(8, 2))))
loader = fabric.setup_dataloaders(DataLoader(data, batch_size=2))
head = fabric.setup_module(nn.Linear(3, 1))
for (x,) in loader:
    fabric.backward(head(x).pow(2).mean())  # second
""",
    "lightning-manual": """
import lightning as L


class Gan(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator, self.discriminator = nn.Linear(2, 2), nn.Linear(2, 1)

    def configure_optimizers(self):
        return (
            torch.optim.Adam(self.generator.parameters()),
            torch.optim.Adam(self.discriminator.parameters()),
        )

    def training_step(self, batch, index):
        first, second = self.optimizers()
        self.toggle_optimizer(first)
        fake = self.generator(torch.randn(4, 2))
        loss = self.discriminator(fake).mean()
        self.manual_backward(loss)
        first.step()
        first.zero_grad()
        self.untoggle_optimizer(first)
        self.toggle_optimizer(second)
        loss = self.discriminator(fake.detach()).mean()
        self.manual_backward(loss)
        second.step()
        second.zero_grad()
        self.untoggle_optimizer(second)
""",
    "lightning-manual-without-detach": """
import lightning as L


class Gan(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator, self.discriminator = nn.Linear(2, 2), nn.Linear(2, 1)

    def configure_optimizers(self):
        return (
            torch.optim.Adam(self.generator.parameters()),
            torch.optim.Adam(self.discriminator.parameters()),
        )

    def training_step(self, batch, index):
        first, second = self.optimizers()
        fake = torch.tanh(self.generator(torch.randn(4, 2)))
        self.manual_backward(self.discriminator(fake).mean())
        first.step()
        self.manual_backward(self.discriminator(fake).mean())  # second
        second.step()
""",
    "lightning-toggled-encoder-is-frozen": """
import lightning as L


class Pair(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.encoder, self.head = nn.Linear(2, 2), nn.Linear(2, 1)

    def configure_optimizers(self):
        return torch.optim.Adam(self.encoder.parameters()), torch.optim.Adam(self.head.parameters())

    def training_step(self, batch, index):
        _, second = self.optimizers()
        self.toggle_optimizer(second)
        features = torch.tanh(self.encoder(torch.randn(4, 2)))
        for _ in range(2):
            self.manual_backward(self.head(features).mean())
            second.step()
        self.untoggle_optimizer(second)
""",
    "deepspeed": """
import deepspeed

model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
engine, optimizer, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config={})
for _ in range(2):
    loss = engine(torch.randn(4, 2)).pow(2).mean()
    engine.backward(loss)
    engine.step()
engine.backward(loss)  # second
""",
    "deepspeed-carries-a-state": """
import deepspeed

engine, _, _, _ = deepspeed.initialize(model=nn.RNNCell(2, 3))
h = torch.zeros(1, 3)
for _ in range(3):
    h = engine(torch.randn(1, 2), h)
    engine.backward(h.sum())  # second
    engine.step()
""",
    "deepspeed-of-a-model-out-of-view": """
import deepspeed


def train(args, model, batches):
    engine, *_ = deepspeed.initialize(args=args, model=model, model_parameters=model.parameters())
    for x, y in batches:
        loss = F.cross_entropy(engine(x), y)
        engine.backward(loss)
        engine.step()
    engine.backward(loss)  # second
""",
    "apex": """
from apex import amp

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for _ in range(2):
    loss = model(torch.randn(4, 2)).pow(2).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
with amp.scale_loss(loss, optimizer) as scaled:
    scaled.backward()  # second
""",
    "threads-that-share-a-graph": """
import threading

w = torch.randn(3, requires_grad=True)
shared = torch.tanh(w)


def work(scale):
    (shared * scale).sum().backward()  # second


threads = [threading.Thread(target=work, kwargs={"scale": k}) for k in (1.0, 2.0)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
""",
    "distributed": """
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(nn.Linear(2, 1).to(dist.get_rank()), device_ids=[dist.get_rank()])
optimizer = torch.optim.SGD(model.module.parameters(), lr=0.1)
total = torch.zeros(())
for _ in range(2):
    optimizer.zero_grad()
    with model.no_sync():
        model(torch.randn(4, 2)).pow(2).mean().backward()
    loss = model(torch.randn(4, 2)).pow(2).mean()
    loss.backward()
    for p in model.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
    optimizer.step()
    shown = loss.detach().clone()
    dist.all_reduce(shown)
    total += shown
loss.backward()  # second
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_walks(name: str) -> None:
    source = HEAD + PROGRAMS[name]
    analysis = analyse(ast.parse(source))
    assert analysis.complete
    expected = [i for i, line in enumerate(source.splitlines(), 1) if line.endswith("# second")]
    machine = analysis.runs[0].machine
    assert machine.differentiations
    assert sorted({e.second.call.lineno for e in machine.second_walks}) == expected
    assert machine.stale == []
    assert machine.type_faults == []


def test_all_reduce_changes_what_is_saved() -> None:
    source = HEAD + (
        "import torch.distributed as dist\n"
        "w = torch.randn(3, requires_grad=True)\n"
        "y = w.exp()\n"
        "dist.all_reduce(y)\n"
        "y.sum().backward()\n"
    )
    assert len(analyse(ast.parse(source)).runs[0].machine.stale) == 1
    sent = source.replace("all_reduce(y)", "send(y, 0)")
    assert analyse(ast.parse(sent)).runs[0].machine.stale == []
