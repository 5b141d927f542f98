"""What grows for long and what only runs through a few steps: small programs, and what is said of them."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

QUIET = {
    "rows-of-a-tensor": """\
import torch
from torch import nn

cell = nn.RNN(4, 2)
hidden = torch.randn(1, 1, 2)
inputs = torch.tensor(data)
for one in inputs:
    out, hidden = cell(one.view(1, 1, -1), hidden)
    print(out.size())
""",
    "as-many-steps-as-somebody-says": """\
import torch
from torch import nn

cell = nn.GRUCell(4, 4)


def generate(start, length):
    state = start
    for _ in range(length):
        state = cell(state, state)
        print(state.argmax().item())
""",
    "until-the-end-of-the-word": """\
import torch
from torch import nn

cell = nn.GRUCell(4, 4)


def generate(start, end):
    state = start
    while True:
        state = cell(state, state)
        if state.argmax().item() == end:
            break
""",
    "returns-of-a-roll-out": """\
import torch
from torch import nn

model = nn.Linear(4, 1)


def returns_of(last, rewards, gamma=0.99):
    total = last
    returns = []
    for step in reversed(range(len(rewards))):
        total = rewards[step] + gamma * total
        returns.insert(0, total)
    return returns


def update(state, rewards):
    returns = torch.cat(returns_of(model(state), rewards)).detach()
    loss = (returns - model(state)).pow(2).mean()
    loss.backward()
""",
    "descent-inside-of-a-module": """\
import torch
from torch import nn


class Settled(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = nn.Parameter(torch.tensor(0.1))
        self.momentum = nn.Parameter(torch.tensor(0.9))

    def forward(self, x, y, potential, steps=5):
        speed = torch.zeros_like(y)
        for _ in range(steps):
            energy = potential(x, y)
            slope = torch.autograd.grad(energy, y, create_graph=True, retain_graph=True)[0]
            speed = self.momentum * speed - self.rate * slope
            y = y + speed
        return y
""",
    "training-step-that-differentiates-itself": """\
import lightning as L


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(self(batch), batch)
        self.manual_backward(loss)
        optimizer.step()
        return loss
""",
    "training-step-of-a-network": """\
import torch
from torch import nn


class Regression(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 1)
        self.outputs = []

    def training_step(self, batch, i):
        loss = self.net(batch).pow(2).mean()
        self.outputs.append(loss)
        return loss

    def on_epoch_end(self):
        print("%.4f" % torch.stack(self.outputs).mean())
        self.outputs.clear()
""",
    "training-step-of-a-base-beside-it": """\
import torch
from .base import Task


class Regression(Task):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)
        self.outputs = []

    def training_step(self, batch, i):
        loss = self.net(batch).pow(2).mean()
        self.outputs.append(loss)
        return loss
""",
    "training-step-and-its-runner": """\
import torch
from torch import nn
from somewhere import Task


class Regression(Task):
    def __init__(self):
        super().__init__()
        self.net, self.last = nn.Linear(4, 4), None

    def training_step(self, batch):
        h = torch.tanh(self.net(batch))
        if self.last is not None:
            h = h + self.last
        self.last = h
        return h.pow(2).mean()


def evaluate(task, data):
    with torch.no_grad():
        return sum(task.training_step(batch).item() for batch in data)
""",
    "training-steps-differentiated-behind-the-epoch": """\
import lightning as L
import torch
from torch import nn


class EpochLoss(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = nn.Linear(4, 1)
        self.outputs = []

    def training_step(self, batch, i):
        loss = self.net(batch).pow(2).mean()
        self.outputs.append(loss)
        return loss

    def on_train_epoch_end(self):
        self.manual_backward(torch.stack(self.outputs).mean())
        self.optimizers().step()
        self.outputs.clear()
""",
    "list-of-one-training-step": """\
import torch
from somewhere import Base


class Model(Base):
    def training_step(self, batch, batch_idx):
        losses = []
        for last in (False, True):
            loss = self.loss(self(batch))
            losses.append(loss)
            self.manual_backward(loss, retain_graph=not last)
        self.log("losses", len(losses))
""",
    "settings-of-a-few-layers": """\
import torch
from torch import nn

weight = nn.Parameter(torch.randn(4, 4))
gains = [{"name": "first", "gain": torch.ones(4)}, {"name": "second", "gain": torch.ones(4)}]
for factor in (0.1, 0.2, 0.3):
    total = 0.0
    for one in gains:
        total = total + (weight * one["gain"]).pow(2).sum()
    print(float(factor * total))
""",
    "metric-of-a-library": """\
from torch import tensor
from torchmetrics import Metric


class Count(Metric):
    def __init__(self):
        super().__init__()
        self.add_state("x", tensor(0), dist_reduce_fx="sum")

    def update(self, x):
        self.x += x


def test():
    count = Count()
    for _ in range(3):
        for i in range(5):
            count(i)
""",
    "named-modules-of-a-list": """\
import torch
from torch import nn


class Judges(nn.Module):
    def __init__(self):
        super().__init__()
        self.judges = nn.ModuleList()
        for i in range(3):
            self.judges.add_module("judge_%d" % i, nn.Linear(4, 1))

    def loss(self, x):
        return sum([(judge(x) ** 2).mean() for judge in self.judges])


maker, judges = nn.Linear(3, 4), Judges()
coder = nn.Linear(4, 3)
for z in torch.randn(100, 5, 3):
    made = maker(z)
    loss = judges.loss(made) + made.pow(2).mean()
    loss.backward(retain_graph=True)
    judges.loss(made.detach()).backward()
    again = (coder(made) - z).abs().mean()
    again.backward()
""",
    "what-is-not-understood-proves-nothing": """\
import torch
from torch import nn

net = nn.Linear(4, 1)
for x in torch.randn(100, 5, 4):
    out = net(x)
    loss = out.mean()
    loss.backward(retain_graph=True)
    count = 0
    count.backward()
    (out ** 2).sum().backward()
""",
    "number-of-the-command-line": """\
import argparse
import torch


def arguments(given=None):
    parser = argparse.ArgumentParser()
    args = parser.parse_args(given)
    return args


def main(judge, accelerator, loader, optimizer):
    args = arguments()
    for x in loader:
        with torch.no_grad():
            score = judge(x)
        loss = score / args.steps
        accelerator.backward(loss)
        optimizer.step()
""",
    "beams-of-a-module-that-others-call": """\
import torch
from torch import nn


class Captions(nn.Module):
    def __init__(self):
        super().__init__()
        self.core = nn.GRUCell(4, 4)
        self.length = 16

    def search(self, state):
        done = []
        for t in range(self.length):
            state = self.core(state, state)
            done.append({"seq": t, "logps": state.clone()})
        return sorted(done, key=lambda beam: beam["seq"])[0]["seq"]

    def until_the_end(self, state):
        kept = []
        while True:
            state = self.core(state, state)
            kept.append(state)
            if state.argmax().item() == 0:
                break
        return len(kept)
""",
    "roll-out-that-is-released": """\
import torch
from torch import nn
from torch.distributions import Normal

actor = nn.Linear(3, 1)
critic = nn.Linear(3, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()])
num_steps = 20
state = torch.randn(8, 3)
for episode in range(1000):
    log_probs = []
    values = []
    for _ in range(num_steps):
        dist = Normal(actor(state), 1.0)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        values.append(critic(state))
        state = torch.randn(8, 3)
    log_probs = torch.cat(log_probs).detach()
    values = torch.cat(values).detach()
    loss = (critic(state) - values.mean()).pow(2).mean() + (actor(state) * log_probs.mean()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "labels-of-which-nothing-is-known": """\
import torch
import torch.nn.functional as F


def train(model, graph, loader):
    labels = graph.ndata.pop("label").cuda()
    weights = torch.nn.Parameter(torch.ones(3))
    graph.ndata["weights"] = weights
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(100):
        logits = model(graph)
        loss = F.cross_entropy(logits[loader], labels[loader])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    "attack-that-is-trained-on": """\
import torch
from torch import nn

net = nn.Linear(4, 3)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)


def attacked(x, y):
    for _ in range(2):
        other = x.clone().requires_grad_(True)
        for _ in range(20):
            (g,) = torch.autograd.grad(nn.functional.cross_entropy(net(other), y), other)
            other = torch.clamp(other + 0.01 * g.sign(), -1, 1)
    return other


for _ in range(30):
    x, y = torch.rand(8, 4), torch.randint(3, (8,))
    loss = nn.functional.cross_entropy(net(attacked(x, y)), y)
    sgd.zero_grad()
    loss.backward()
    sgd.step()
""",
    "samples-that-others-train-on": """\
import torch
from torch import nn


class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.SiLU(), nn.Linear(8, 1))

    def sample(self, x):
        for _ in range(3):
            x = x if x.requires_grad else x.requires_grad_(True)
            for _ in range(20):
                (g,) = torch.autograd.grad(self.net(x).sum(), x)
                x = torch.tanh(x - 0.1 * g)
        return x
""",
}

LOUD = {
    "state-of-an-object": (
        "AD302",
        """\
import torch
from torch import nn


class Runner:
    def __init__(self):
        self.cell = nn.GRUCell(4, 4)
        self.state = torch.zeros(1, 4)

    def collect(self, steps):
        for _ in range(steps):
            self.state = self.cell(torch.randn(1, 4), self.state)


runner = Runner()
for episode in range(12):
    runner.collect(5)
""",
    ),
    "endless": (
        "AD302",
        """\
import torch
from torch import nn

cell = nn.GRUCell(4, 4)


def serve():
    state = torch.zeros(1, 4)
    while True:
        state = cell(torch.randn(1, 4), state)
        print(state.argmax().item())
""",
    ),
    "search-in-rounds": (
        "AD302",
        """\
import torch
from torch import nn

net = nn.Linear(4, 4)


def settled(x):
    for _ in range(3):
        x = x.detach().requires_grad_()
        for _ in range(24):
            (g,) = torch.autograd.grad(net(x).pow(2).mean(), x)
            x = torch.tanh(x - 0.1 * g)
    return x.detach()


print(settled(torch.rand(2, 4)).mean())
""",
    ),
    "evaluation-with-its-graph": (
        "AD102",
        """\
import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Linear(4, 1)


def evaluate(dataset):
    outputs = []
    for x in DataLoader(dataset):
        outputs.append(model(x))
    print(len(outputs))
""",
    ),
    "named-samples": (
        "AD101",
        """\
import torch
from torch import nn

model = nn.Linear(4, 1)
samples = [{"name": str(i), "x": torch.randn(8, 4), "y": torch.randn(8, 1)} for i in range(5)]
for epoch in range(3):
    total = 0.0
    for sample in samples:
        total += (model(sample["x"]) - sample["y"]).abs().mean()
        print(sample["name"])
    print(float(total))
""",
    ),
    "list-of-all-training-steps": (
        "AD102",
        """\
import torch
from somewhere import Base


class Model(Base):
    losses = []

    def training_step(self, batch, batch_idx):
        def closure():
            loss = self.loss(self(batch))
            self.manual_backward(loss)
            self.losses.append(loss)
            self.log("loss", loss)

        self.optimizers().step(closure=closure)
""",
    ),
    "state-through-an-unknown-network": (
        "AD302",
        """\
import torch


def train(rnn, loader, optimizer):
    h = torch.zeros(1, 4, 8)
    for x, y in loader:
        optimizer.zero_grad()
        out, h = rnn(x, h)
        loss = torch.nn.functional.mse_loss(out, y)
        loss.backward()
        optimizer.step()
""",
    ),
    "scalar-over-a-size": (
        "AD401",
        """\
import torch


def train(net, loader, optimizer):
    total = 0
    for batch in loader:
        x = batch[0].cuda()
        loss, hits = net(x)
        loss = loss.sum() / x.size(0)
        total += loss.data[0]
        loss.backward()
        optimizer.step()
""",
    ),
}


def codes(source: str) -> list[str]:
    return [f.code for f in check(Source.from_bytes(source.encode(), "program.py"), CheckOptions()).findings]


@pytest.mark.parametrize("name", QUIET)
def test_nothing_is_said_of_a_few_steps(name: str) -> None:
    assert codes(QUIET[name]) == []


@pytest.mark.parametrize("name", LOUD)
def test_what_goes_on_is_reported(name: str) -> None:
    code, source = LOUD[name]
    assert codes(source) == [code]
