"""As the folder `programs`: what training code uses around autograd. (name, source), judged by running them."""

from __future__ import annotations

LIBRARY: list[tuple[str, str]] = []


def program(name: str, source: str) -> None:
    LIBRARY.append((name, source.lstrip("\n")))


HEAD = """
import torch
import torch.nn.functional as F
from torch import nn

"""

# ---- torch.func, checkpoints, second derivatives

program(
    "functional-call-makes-a-fresh-graph",
    HEAD
    + """\
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
params = dict(model.named_parameters())
for _ in range(2):
    torch.func.functional_call(model, params, (torch.randn(4, 2),)).mean().backward()
loss = torch.func.functional_call(model, params, (torch.randn(4, 2),)).mean()
loss.backward()
loss.backward()
""",
)
program(
    "functional-call-with-updated-weights",
    HEAD
    + """\
model = nn.Linear(2, 1)
params = {name: p * 0.5 for name, p in model.named_parameters()}
for _ in range(2):
    torch.func.functional_call(model, params, (torch.randn(4, 2),)).pow(2).mean().backward()
""",
)
program(
    "vmap-over-a-weight",
    HEAD
    + """\
w = torch.randn(3, requires_grad=True)
for _ in range(2):
    torch.vmap(lambda x: (x * w).sum())(torch.randn(4, 3)).sum().backward()
loss = torch.vmap(lambda x: (x * w).sum())(torch.randn(4, 3)).sum()
loss.backward()
loss.backward()
""",
)
program(
    "vmap-of-a-sum-saves-nothing",
    HEAD
    + """\
w = torch.randn(3, requires_grad=True)
loss = torch.vmap(lambda x: (x + w).sum())(torch.randn(4, 3)).sum()
loss.backward()
loss.backward()
""",
)
program(
    "func-grad-of-a-plain-tensor",
    HEAD
    + """\
gradient = torch.func.grad(lambda x: (x ** 2).sum())(torch.randn(3))
w = torch.randn(3, requires_grad=True)
for _ in range(2):
    (w * gradient).sum().backward()
""",
)
program(
    "func-grad-closes-over-a-weight",
    HEAD
    + """\
w = torch.randn(3, requires_grad=True)
gradient = torch.func.grad(lambda x: ((x * w) ** 2).sum())(torch.randn(3))
gradient.sum().backward()
gradient.sum().backward()
""",
)
program(
    "func-grad-and-value-of-a-dict",
    HEAD
    + """\
params = {"a": torch.randn(3), "b": torch.randn(3)}


def cost(params, x):
    return (params["a"] * x + params["b"]).pow(2).sum()


for _ in range(3):
    grads, value = torch.func.grad_and_value(cost)(params, torch.randn(3))
    params = {name: p - 0.1 * grads[name] for name, p in params.items()}
w = torch.randn(3, requires_grad=True)
for _ in range(2):
    (w * params["a"]).sum().backward()
""",
)
program(
    "jacobian-has-no-history",
    HEAD
    + """\
x = torch.randn(3, requires_grad=True)
jacobian = torch.autograd.functional.jacobian(lambda t: t ** 2, x)
for _ in range(2):
    (x * jacobian.sum()).sum().backward()
""",
)
program(
    "checkpoint-recomputes-each-pass",
    HEAD
    + """\
from torch.utils.checkpoint import checkpoint

layer = nn.Linear(2, 2)
for _ in range(3):
    x = torch.randn(4, 2, requires_grad=True)
    checkpoint(layer, x, use_reentrant=False).tanh().sum().backward()
""",
)
program(
    "checkpoint-of-a-layer-walked-twice",
    HEAD
    + """\
from torch.utils.checkpoint import checkpoint

layer = nn.Linear(2, 2)
loss = checkpoint(lambda x: torch.tanh(layer(x)), torch.randn(4, 2), use_reentrant=False).sum()
loss.backward()
loss.backward()
""",
)
program(
    "checkpoint-reentrant-saves-its-inputs",
    HEAD
    + """\
from torch.utils.checkpoint import checkpoint

w = torch.randn(2, requires_grad=True)
loss = checkpoint(lambda x: x + 1, w, use_reentrant=True).sum()
loss.backward()
loss.backward()
""",
)
program(
    "checkpoint-of-a-sum-saves-nothing",
    HEAD
    + """\
from torch.utils.checkpoint import checkpoint

w = torch.randn(2, requires_grad=True)
loss = checkpoint(lambda x: x + 1, w, use_reentrant=False).sum()
loss.backward()
loss.backward()
""",
)
program(
    "checkpoint-sequential",
    HEAD
    + """\
from torch.utils.checkpoint import checkpoint_sequential

model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
for _ in range(2):
    checkpoint_sequential(model, 2, torch.randn(4, 2, requires_grad=True), use_reentrant=False).mean().backward()
out = checkpoint_sequential(model, 2, torch.randn(4, 2, requires_grad=True), use_reentrant=False)
out.mean().backward()
out.sum().backward()
""",
)
# ---- data

program(
    "tensor-dataset-of-embeddings-with-history",
    HEAD
    + """\
from torch.utils.data import DataLoader, TensorDataset

encoder = nn.Linear(2, 3)
features = torch.tanh(encoder(torch.randn(8, 2)))
loader = DataLoader(TensorDataset(features, torch.randn(8, 1)), batch_size=2)
head = nn.Linear(3, 1)
for x, y in loader:
    F.mse_loss(head(x), y).backward()
""",
)
program(
    "tensor-dataset-of-detached-embeddings",
    HEAD
    + """\
from torch.utils.data import DataLoader, TensorDataset, random_split

encoder = nn.Linear(2, 3)
features = torch.tanh(encoder(torch.randn(8, 2))).detach()
train, test = random_split(TensorDataset(features, torch.randn(8, 1)), [6, 2])
head = nn.Linear(3, 1)
for x, y in DataLoader(train, batch_size=2):
    F.mse_loss(head(x), y).backward()
""",
)
program(
    "split-data-with-history",
    HEAD
    + """\
from torch.utils.data import DataLoader, TensorDataset, random_split

encoder = nn.Linear(2, 3)
train, test = random_split(TensorDataset(torch.tanh(encoder(torch.randn(8, 2)))), [6, 2])
for (x,) in DataLoader(train, batch_size=2):
    x.pow(2).sum().backward()
""",
)
# ---- modules around modules

program(
    "clipped-gradient",
    HEAD
    + """\
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(4, 2)).pow(2).mean().backward()
    total += nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
""",
)
program(
    "weight-norm-and-spectral-norm",
    HEAD
    + """\
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

model = nn.Sequential(weight_norm(nn.Linear(2, 3)), nn.ReLU(), spectral_norm(nn.Linear(3, 1)))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 2)).mean()
    loss.backward()
    optimizer.step()
loss.backward()
""",
)
program(
    "averaged-model",
    HEAD
    + """\
from torch.optim.swa_utils import SWALR, AveragedModel

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
average = AveragedModel(model)
scheduler = SWALR(optimizer, swa_lr=0.05)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(4, 2)).mean().backward()
    optimizer.step()
    average.update_parameters(model)
    scheduler.step()
average(torch.randn(4, 2)).mean().backward()
""",
)
program(
    "averaged-model-updated-before-backward",
    HEAD
    + """\
from torch.optim.swa_utils import AveragedModel

model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
average = AveragedModel(model)
loss = average(torch.randn(4, 2)).mean()
average.update_parameters(model)
loss.backward()
""",
)
program(
    "moving-average-over-state-dicts",
    HEAD
    + """\
import copy

model = nn.Linear(2, 1)
shadow = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    with torch.no_grad():
        target = shadow(torch.randn(4, 2))
    F.mse_loss(model(torch.randn(4, 2)), target).backward()
    optimizer.step()
    with torch.no_grad():
        for name, value in shadow.state_dict().items():
            value.mul_(0.9).add_(model.state_dict()[name], alpha=0.1)
""",
)
program(
    "moving-average-without-no-grad",
    HEAD
    + """\
model = nn.Linear(2, 1)
average = model.weight.detach().clone()
for _ in range(3):
    model(torch.randn(4, 2)).pow(2).mean().backward()
    average = 0.9 * average + 0.1 * model.weight.exp()
    average.sum().backward()
""",
)
program(
    "state-dict-written-to-before-backward",
    HEAD
    + """\
model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
loss = model(torch.randn(4, 2)).mean()
model.state_dict()["1.weight"].mul_(0.5)
loss.backward()
""",
)
program(
    "state-dict-cloned-and-written-to",
    HEAD
    + """\
model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
loss = model(torch.randn(4, 2)).mean()
saved = {name: value.clone() for name, value in model.state_dict().items()}
saved["1.weight"].mul_(0.5)
loss.backward()
""",
)
program(
    "autocast-and-scaler",
    HEAD
    + """\
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", enabled=False)
for _ in range(3):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(torch.randn(4, 2)).float().pow(2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
scaler.scale(loss).backward()
""",
)
program(
    "autocast-as-a-decorator",
    HEAD
    + """\
model = nn.Linear(2, 1)


@torch.autocast("cpu", dtype=torch.bfloat16)
def cost(x):
    return model(x).float().pow(2).mean()


loss = cost(torch.randn(4, 2))
loss.backward()
loss.backward()
""",
)
program(
    "data-parallel-has-the-module",
    HEAD
    + """\
model = nn.DataParallel(nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.module.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 2)).pow(2).mean()
    loss.backward()
    optimizer.step()
model.module(torch.randn(4, 2)).pow(2).mean().backward()
loss.backward()
""",
)
program(
    "module-apply-initialises",
    HEAD
    + """\
def initialise(module):
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
        nn.init.xavier_uniform_(module.weight)


model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
model.apply(initialise)
model(torch.randn(4, 2)).mean().backward()
loss = model(torch.randn(4, 2)).mean()
model.apply(initialise)
loss.backward()
""",
)
program(
    "forward-hook-keeps-activations",
    HEAD
    + """\
model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
kept = []
handle = model[1].register_forward_hook(lambda module, inputs, output: kept.append(output))
for _ in range(2):
    model(torch.randn(4, 2)).mean().backward()
kept[0].sum().backward()
""",
)
program(
    "forward-hook-keeps-what-is-detached",
    HEAD
    + """\
model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
kept = {}


def keep(name):
    def hook(module, inputs, output):
        kept[name] = output.detach()

    return hook


for name, module in model.named_modules():
    module.register_forward_hook(keep(name))
for _ in range(2):
    model(torch.randn(4, 2)).mean().backward()
w = torch.randn(2, requires_grad=True)
for _ in range(2):
    (w * kept["1"]).sum().backward()
""",
)
program(
    "forward-hook-removed",
    HEAD
    + """\
model = nn.Linear(2, 1)
kept = []
handle = model.register_forward_hook(lambda module, inputs, output: kept.append(output.exp()))
first = model(torch.randn(4, 2)).mean()
handle.remove()
second = model(torch.randn(4, 2)).mean()
first.backward()
second.backward()
assert len(kept) == 1
for value in kept[1:]:
    value.sum().backward()
""",
)
program(
    "full-backward-hook-keeps-norms",
    HEAD
    + """\
model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
norms = []
model[2].register_full_backward_hook(lambda module, into, out: norms.append(out[0].norm()))
for _ in range(3):
    model(torch.randn(4, 2)).mean().backward()
torch.stack(norms).sum()
""",
)
program(
    "buffer-with-history",
    HEAD
    + """\
class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.register_buffer("state", torch.zeros(2))

    def forward(self, x):
        self.state = torch.tanh(self.layer(x) + self.state)
        return self.state


memory = Memory()
assert [name for name, _ in memory.named_buffers()] == ["state"]
for _ in range(2):
    memory(torch.randn(2)).sum().backward()
""",
)
program(
    "buffers-detached-by-name",
    HEAD
    + """\
class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.register_buffer("state", torch.zeros(2))

    def forward(self, x):
        self.state = torch.tanh(self.layer(x) + self.state)
        return self.state


memory = Memory()
for _ in range(3):
    for name, buffer in list(memory.named_buffers()):
        setattr(memory, name, buffer.detach())
    memory(torch.randn(2)).sum().backward()
""",
)
program(
    "parameters-by-dotted-name",
    HEAD
    + """\
model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
for name, p in model.named_parameters():
    if name.startswith("0."):
        p.requires_grad_(False)
features = model[0](torch.randn(4, 2)).tanh()
for _ in range(2):
    model[1](features).mean().backward()
""",
)
program(
    "module-dict-and-list",
    HEAD
    + """\
class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.ModuleList(nn.Linear(2, 2) for _ in range(2))
        self.heads = nn.ModuleDict({"a": nn.Linear(2, 1), "b": nn.Linear(2, 1)})

    def forward(self, x):
        for layer in self.trunk:
            x = torch.tanh(layer(x))
        return {name: head(x).mean() for name, head in self.heads.items()}


model = Heads()
sum(model(torch.randn(4, 2)).values()).backward()
losses = model(torch.randn(4, 2))
for name in model.heads:
    losses[name].backward()
""",
)
program(
    "compiled-and-scripted",
    HEAD
    + """\
def cost(x):
    return x.pow(2).mean()


model = torch.compile(nn.Linear(2, 1), backend="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = cost(model(torch.randn(4, 2)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
loss.backward()
""",
)
# ---- recurrent data

program(
    "packed-sequences-with-a-state",
    HEAD
    + """\
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

rnn = nn.GRU(2, 3, batch_first=True)
x = pad_sequence([torch.randn(3, 2), torch.randn(2, 2)], batch_first=True)
h = None
for _ in range(2):
    packed, h = rnn(pack_padded_sequence(x, [3, 2], batch_first=True), h)
    out, lengths = pad_packed_sequence(packed, batch_first=True)
    out.sum().backward()
""",
)
program(
    "packed-sequences-with-a-detached-state",
    HEAD
    + """\
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

rnn = nn.LSTM(2, 3, batch_first=True)
state = None
for _ in range(2):
    packed, state = rnn(pack_padded_sequence(torch.randn(2, 3, 2), [3, 2], batch_first=True), state)
    state = tuple(s.detach() for s in state)
    out, lengths = pad_packed_sequence(packed, batch_first=True)
    out.sum().backward()
packed.data.sum().backward()
""",
)
program(
    "parameters-as-a-vector",
    HEAD
    + """\
model = nn.Linear(2, 1)
penalty = nn.utils.parameters_to_vector(model.parameters())
penalty.sum().backward()
penalty.sum().backward()
squares = nn.utils.parameters_to_vector(model.parameters()).pow(2)
squares.sum().backward()
squares.sum().backward()
""",
)
# ---- in place

program(
    "in-place-relu-behind-a-convolution",
    HEAD
    + """\
model = nn.Sequential(nn.Conv1d(2, 2, 1), nn.BatchNorm1d(2), nn.ReLU(True), nn.Conv1d(2, 1, 1), nn.LeakyReLU(0.1, True))
for _ in range(2):
    model(torch.randn(4, 2, 5)).mean().backward()
""",
)
program(
    "in-place-relu-behind-a-convolution-and-its-input",
    HEAD
    + """\
first, second = nn.Linear(2, 2), nn.Linear(2, 2)
h = first(torch.randn(4, 2))
out = second(h)
out = out + F.leaky_relu_(h, 0.1)
out.mean().backward()
""",
)
program(
    "in-place-dropout-behind-a-softmax",
    HEAD
    + """\
w = torch.randn(3, 3, requires_grad=True)
attention = torch.softmax(w, dim=1)
F.dropout(attention, 0.5, inplace=True).sum().backward()
""",
)
program(
    "result-of-an-in-place-sigmoid-changed",
    HEAD
    + """\
w = torch.randn(3, requires_grad=True)
y = w * 2
y.sigmoid_()
y.mul_(3)
y.sum().backward()
""",
)
program(
    "in-place-chain-that-saves-nothing",
    HEAD
    + """\
w = torch.randn(3, requires_grad=True)
y = w + 1
y.add_(2).neg_()
y.sub_(w)
y.sum().backward()
y.sum().backward()
""",
)
program(
    "view-of-a-view-written-to",
    HEAD
    + """\
w = torch.randn(2, 3, requires_grad=True)
y = w + 0
y.view(6)[2:4].add_(1)
y.sum().backward()
y.sum().backward()
""",
)
program(
    "rows-of-a-buffer-filled",
    HEAD
    + """\
w = torch.randn(3, requires_grad=True)
buffer = torch.zeros(2, 3)
for i in range(2):
    buffer[i].copy_(torch.tanh(w))
buffer.sum().backward()
buffer[0].sum().backward()
""",
)
program(
    "view-of-plain-data-changed",
    HEAD
    + """\
w = torch.randn(3, requires_grad=True)
x = torch.randn(2, 3)
loss = (w * x).sum()
x[0].zero_()
loss.backward()
""",
)
program(
    "matrix-product-is-not-in-place",
    HEAD
    + """\
w = torch.randn(3, 3, requires_grad=True)
y = torch.sigmoid(w)
z = y
z @= w
z.sum().backward()
y.sum().backward()
""",
)
# ---- threads and functions

program(
    "threads-with-losses-of-their-own",
    HEAD
    + """\
import threading

w = torch.randn(3, requires_grad=True)
results = []


def work(scale):
    loss = (w * scale).exp().sum()
    loss.backward()
    results.append(loss)


threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
results[0].backward()
""",
)
program(
    "thread-class-with-run",
    HEAD
    + """\
import threading


class Worker(threading.Thread):
    def __init__(self, w):
        super().__init__()
        self.w = w
        self.out = None

    def run(self):
        self.out = torch.tanh(self.w).sum()


w = torch.randn(3, requires_grad=True)
workers = [Worker(w), Worker(w)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
    worker.out.backward()
workers[1].out.backward()
""",
)
program(
    "executor-raises-at-the-result",
    HEAD
    + """\
from concurrent.futures import ThreadPoolExecutor, as_completed

w = torch.randn(3, requires_grad=True)
shared = torch.tanh(w)


def work(scale):
    loss = (shared * scale).sum()
    loss.backward()
    return loss.item()


with ThreadPoolExecutor(max_workers=1) as pool:
    futures = [pool.submit(work, k) for k in (1.0, 2.0)]
    for future in futures:
        print(future.result())
""",
)
program(
    "executor-map-with-graphs-of-their-own",
    HEAD
    + """\
from concurrent.futures import ThreadPoolExecutor

w = torch.randn(3, requires_grad=True)
with ThreadPoolExecutor(max_workers=2) as pool:
    losses = list(pool.map(lambda k: (w * k).exp().sum(), [1.0, 2.0]))
for loss in losses:
    loss.backward()
losses[1].backward()
""",
)
program(
    "cached-graph",
    HEAD
    + """\
from functools import cached_property, lru_cache, partial


class Prior:
    def __init__(self, w):
        self.w = w

    @cached_property
    def energy(self):
        return self.w.exp().sum()


@lru_cache(maxsize=None)
def table(size):
    return torch.arange(size).float()


w = torch.randn(3, requires_grad=True)
scaled = partial(torch.mul, w)
prior = Prior(w)
for _ in range(2):
    scaled(table(3)).sum().backward()
for _ in range(2):
    prior.energy.backward()
""",
)
program(
    "cached-function-of-a-weight",
    HEAD
    + """\
from functools import lru_cache

w = torch.randn(3, requires_grad=True)


@lru_cache
def kernel(size):
    return torch.exp(-w) * size


for step in range(3):
    kernel(3).sum().backward()
""",
)
program(
    "operator-functions",
    HEAD
    + """\
from itertools import pairwise, starmap, zip_longest
from operator import attrgetter, itemgetter, methodcaller, mul

w = torch.randn(3, requires_grad=True)
parts = list(starmap(mul, [(w, 1.0), (w, 2.0), (w, 3.0)]))
for a, b in pairwise([1.0, 2.0, 3.0]):
    (w * a + w * b).sum().backward()
pair = {"loss": parts[0].sum(), "aux": parts[1].sum()}
itemgetter("loss")(pair).backward()
for a, b in zip_longest([parts[2]], [parts[0]]):
    a.sum().backward()
methodcaller("backward")(pair["loss"])
""",
)

# ---- layers by name

NAMED = (
    HEAD
    + """\
from collections import OrderedDict


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.zeros(2)

    def forward(self, x):
        self.last = torch.tanh(x + self.last)
        return self.last


"""
)

program(
    "named-layers-of-a-sequence",
    NAMED
    + """\
net = nn.Sequential(OrderedDict([("inner", nn.Linear(2, 2)), ("act", nn.Tanh())]))
net.add_module("outer", nn.Linear(2, 1))
names = [name for name, _ in net.named_parameters()]
assert names == ["inner.weight", "inner.bias", "outer.weight", "outer.bias"]
assert [name for name, _ in net.named_children()] == ["inner", "act", "outer"]
for _ in range(2):
    weights = dict(net.named_parameters())
    h = torch.tanh(F.linear(torch.randn(4, 2), weights["inner.weight"], weights["inner.bias"]))
    (net.outer(h) - net(torch.randn(4, 2))).pow(2).sum().backward()
""",
)
program(
    "named-weights-of-a-sequence-changed-by-hand",
    NAMED
    + """\
net = nn.Sequential()
net.add_module("inner", nn.Linear(2, 2))
net.add_module("outer", nn.Linear(2, 1))
weights = dict(net.named_parameters())
loss = net(torch.randn(4, 2)).sum()
with torch.no_grad():
    weights["outer.weight"].mul_(0.9)
loss.backward()
""",
)
program(
    "named-layer-replaced-by-one-with-a-memory",
    NAMED
    + """\
net = nn.Sequential(OrderedDict([("inner", nn.Linear(2, 2)), ("act", nn.Tanh())]))
net.act = Memory()
for _ in range(2):
    net(torch.randn(2)).sum().backward()
""",
)
program(
    "named-layer-with-a-memory-replaced",
    NAMED
    + """\
net = nn.Sequential(OrderedDict(inner=nn.Linear(2, 2), act=Memory()))
net.act = nn.Tanh()
for _ in range(2):
    net(torch.randn(2)).sum().backward()
""",
)
program(
    "named-layer-replaced-by-setattr",
    NAMED
    + """\
net = nn.Sequential()
net.add_module("inner", nn.Linear(2, 2))
net.add_module("act", nn.Tanh())
net.add_module("outer", nn.Linear(2, 1))
for name, layer in list(net.named_children()):
    if isinstance(layer, nn.Tanh):
        setattr(net, name, Memory())
assert len(net) == 3
for _ in range(2):
    net(torch.randn(2)).sum().backward()
""",
)
program(
    "named-layer-with-a-memory-replaced-by-add-module",
    NAMED
    + """\
net = nn.Sequential()
net.add_module("act", Memory())
net.add_module("outer", nn.Linear(2, 1))
net.add_module("act", nn.Tanh())
for _ in range(2):
    net(torch.randn(2)).sum().backward()
net[0](net.outer(torch.randn(2))).sum().backward()
""",
)
program(
    "retained-gradient-behind-each-differentiation",
    HEAD
    + """\
w = torch.randn(3, requires_grad=True)
h = torch.exp(w)
h.retain_grad()
loss = (h * h).sum()
if h.grad is not None:
    loss.backward()
loss.backward(retain_graph=True)
h.grad = None
if h.grad is not None:
    loss.backward()
loss.backward()
w.data -= 0.1 * h.grad
""",
)
program(
    "retained-gradient-is-there",
    HEAD
    + """\
w = torch.randn(3, requires_grad=True)
h = torch.exp(w)
h.retain_grad()
loss = (h * h).sum()
loss.backward()
if h.grad is not None:
    loss.backward()
""",
)
