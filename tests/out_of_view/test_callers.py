"""What callers who are out of view may give, keep and have done before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

UNKNOWN_LOSS = """\
import torch


def optimise(loss_fn, design, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_fn(design)
        loss.backward(retain_graph=True)
        optimizer.step()
"""


def test_what_a_callable_out_of_view_hands_out_it_may_hand_out_again() -> None:
    (finding,) = check(Source.from_text(UNKNOWN_LOSS, "program.py"), CheckOptions()).findings
    assert finding.code == "AD103"
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.UNSAFE


GIVEN = """\
import torch
import torch.nn.functional as F
from torch import nn


class Codec(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))

    def error(self, points):
        return F.mse_loss(self.layers(points), points)

    def warm_up(self, points, batches, rounds=5):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-3)
        LINE
        for _ in range(rounds):
            optimizer.zero_grad()
            self.error(points).backward(retain_graph=True)
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("line", "is_given"),
    [
        ("points = points.to(self.layers[0].weight.device)", True),
        ("points = points[:100]", True),
        ("points = torch.rand(8, 2)", False),
        ("points = torch.tensor(points)", False),
    ],
)
def test_a_caller_may_give_what_has_a_graph_to_every_pass_of_a_loop(line: str, is_given: bool) -> None:
    (finding,) = check(Source.from_text(GIVEN.replace("LINE", line), "program.py"), CheckOptions()).findings
    assert finding.code == "AD103"
    assert finding.fix is not None
    assert (finding.fix.applicability is Applicability.UNSAFE) is is_given
    assert ("`points`" in (finding.fix.why_unsafe or "")) is is_given


@pytest.mark.parametrize("given", ["batches", "itertools.islice(batches, 9)"])
def test_batches_of_a_caller_are_others_in_every_pass(given: str) -> None:
    head, _ = GIVEN.split("        LINE")
    tail = f"""\
        for points in {given}:
            optimizer.zero_grad()
            self.error(points).backward(retain_graph=True)
            optimizer.step()
"""
    (finding,) = check(Source.from_text(f"import itertools\n{head}{tail}", "program.py"), CheckOptions()).findings
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.SAFE


def test_what_callers_in_view_give_is_known() -> None:
    text = f"{GIVEN.replace('LINE', 'pass')}\n\nCodec().warm_up(torch.rand(8, 2), [])\n"
    (finding,) = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.SAFE


LOSS = """\
import torch


class Trainer:
    def __init__(self, model, optimizer, criterion):
        self.model = model
        self.optimizer = optimizer
        self.criterion = criterion

    def fit(self, loader, epochs=None, *, limits=None):
        if epochs is None:
            raise ValueError("for how many epochs?")
        if limits is None:
            raise ValueError("between which limits?")
        history = []
        self.model.train()
        for _ in range(epochs):
            for x, y in loader:
                loss = self.criterion(self.model(x.clamp(*limits)), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                history.append(loss)
        return [float(loss) for loss in history]
"""


def test_a_caller_gives_what_is_asked_for() -> None:
    """Nobody in view calls `fit`, and without arguments it only raises."""
    (finding,) = check(Source.from_text(LOSS, "program.py"), CheckOptions()).findings
    assert finding.code == "AD102"
    assert "`loss` is stored with its autograd graph" in finding.message


BY_NAME = """\
import torch
from torch import nn


class Trainer:
    def __init__(self, width, **config):
        self.net = nn.Linear(width, 1)
        LINE
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def read(self, epochs, **others):
        self.epochs, self.others = epochs, others

    def fit(self, loader):
        total = 0
        for _ in range(self.epochs):
            for x, y in loader:
                loss = nn.functional.mse_loss(self.net(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss
        return total.item()
"""


@pytest.mark.parametrize(
    "line",
    [
        'self.epochs = config["epochs"]',
        'self.epochs = config.get("epochs")',
        'self.epochs = config.pop("epochs", 0)',
        'self.epochs = config["epochs"] if "epochs" in config else 0',
        "for name, value in config.items(): setattr(self, name, value)",
        "[setattr(self, name, config[name]) for name in config]",
        "self.read(**config)",
    ],
)
def test_a_caller_may_give_more_by_name(line: str) -> None:
    """Nobody in view makes a `Trainer`: what stands in `**config` is not known, and it is not empty."""
    text = BY_NAME.replace("LINE", line)
    (finding,) = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    assert finding.code == "AD101"


GATED = """\
from collections import deque

import torch
from torch import nn


class Memory:
    def __init__(self, size):
        self.size, self.count = size, 0
        self.states, self.latest = [], deque(maxlen=size)

    def store(self, state):
        self.states[self.count % self.size] = state
        self.latest.append(state)
        self.count = self.count + 1

    def is_ready(self, number):
        return self.count >= number

    def __len__(self):
        return len(self.latest)


class Agent:
    def __init__(self, batch_size=100):
        self.memory, self.batch_size, self.steps = Memory(1000), batch_size, 0
        self.value = nn.Linear(3, 1)
        self.optimizer = torch.optim.Adam(self.value.parameters())

    def remember(self, state):
        self.memory.store(state)
        self.steps += 1

    def learn(self):
        if GATE:
            return
        states = torch.tensor(self.memory.states[: self.batch_size], dtype=torch.float)
        self.optimizer.zero_grad()
        loss = self.value(states).pow(2).mean()
        loss.backward(retain_graph=True)
        self.optimizer.step()
"""


@pytest.mark.parametrize(
    "gate",
    [
        "self.memory.count < self.batch_size",
        "self.steps < self.batch_size",
        "not self.memory.is_ready(self.batch_size)",
        "len(self.memory.latest) < self.batch_size",
        "len(self.memory) < self.batch_size",
        "not self.memory.latest",
        "self.memory.count == 0",
    ],
)
def test_others_have_remembered_something_before_they_learn(gate: str) -> None:
    """Nobody in view calls `remember`, or `learn`: the memory is empty only when it is made."""
    (finding,) = check(Source.from_text(GATED.replace("GATE", gate), "program.py"), CheckOptions()).findings
    assert finding.code == "AD103"


@pytest.mark.parametrize(
    "handed_on",
    [
        "net.loss = total",
        "net.losses[key] = total",
        "setattr(net, key, total)",
        "result = make(net)\n    result.loss = total\n    return result",
        "result = Output()\n    result.loss = total\n    return result",
        "result = Output()\n    result.loss = total\n    report([result])",
    ],
)
def test_what_is_kept_on_an_object_that_others_have_may_be_differentiated_by_them(handed_on: str) -> None:
    text = (
        "import torch\n"
        "from torch import nn\n"
        "from outputs import Output\n"
        "\n"
        "def collect(net, loader, make, report, key):\n"
        "    layer = nn.Linear(4, 1)\n"
        "    total = 0.0\n"
        "    for x in loader:\n"
        "        total = total + layer(x).mean()\n"
        f"    {handed_on}\n"
    )
    assert check(Source.from_text(text, "program.py"), CheckOptions()).findings == ()


@pytest.mark.parametrize(
    "program",
    [
        (
            "def collect(loader):\n"
            "    layer = nn.Linear(4, 1)\n"
            "    meter = Meter()\n"
            "    meter.total = 0.0\n"
            "    for x in loader:\n"
            "        meter.total += layer(x).mean()\n"
            "    print(float(meter.total))\n"
        ),
        (
            "def train(loader, state):\n"
            "    layer = nn.Linear(4, 1)\n"
            "    for x in loader:\n"
            "        loss = layer(x).mean()\n"
            "        loss.backward()\n"
            "        state.total += loss\n"
        ),
    ],
)
def test_objects_that_stay_here_and_graphs_that_are_freed_are_of_no_use_to_others(program: str) -> None:
    text = f"import torch\nfrom torch import nn\nfrom meters import Meter\n\n{program}"
    (finding,) = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    assert finding.code == "AD101"


def test_what_one_program_only_keeps_another_one_may_train_with(tmp_path: Path) -> None:
    """`play` keeps what it never differentiates; `trained`, which it does not call, would differentiate that."""
    (tmp_path / "policy.py").write_text(
        "import torch\n"
        "from torch import nn\n"
        "\n"
        "\n"
        "class Policy(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.linear, self.values = nn.Linear(8, 1), []\n"
        "\n"
        "    def forward(self, state):\n"
        "        self.values.append(torch.tanh(self.linear(state)))\n"
        "        return 1\n"
        "\n"
        "    def loss(self, rewards):\n"
        "        total = 0\n"
        "        for value, reward in zip(self.values, rewards):\n"
        "            total += (value - reward) ** 2\n"
        "        return total\n"
    )
    (tmp_path / "play.py").write_text(
        "import torch\n"
        "from policy import Policy\n"
        "\n"
        "policy = Policy()\n"
        "for episode in range(5):\n"
        "    for step in range(10000):\n"
        "        policy(torch.randn(8))\n"
    )
    command = [sys.executable, "-m", "autodetach", "check", "--no-cache", "."]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")


ANOTHER_WAY = """\
import torch
from torch import nn


class Critic:
    def __init__(self):
        self.value = nn.Linear(3, 1)
        self.optimizer = torch.optim.Adam(self.value.parameters())

    def update(self, ready):
        if not ready:
            return None, None
        error = self.value(torch.randn(2, 3)).pow(2).mean()
        self.optimizer.zero_grad()
        error.backward()
        self.optimizer.step()
        return error, error * 2


class Trainer:
    def __init__(self, critic, epochs, *, verbose=True):
        self.critic, self.epochs, self.verbose = critic, epochs, verbose

    def by_epoch(self):
        for _ in range(self.epochs):
            errors = []
            for _ in range(100):
                error, twice = self.critic.update(ready=True)
                if error is not None and twice is not None:
                    errors.append(error)
            if self.verbose:
                print(len(errors), errors[-1])

    def once(self):
        self.critic.update(ready=True)


def main():
    torch.manual_seed(0)
    trainer = Trainer(Critic(), epochs=3)
    trainer.once()


if __name__ == "__main__":
    main()
"""


def test_what_main_makes_tells_what_its_other_ways_of_training_are_given() -> None:
    (finding,) = check(Source.from_text(ANOTHER_WAY, "train.py"), CheckOptions()).findings
    assert finding.code == "AD102" and finding.fix is not None
    assert finding.fix.applicability is Applicability.SAFE
    assert [edit.replacement for edit in finding.fix.edits] == [".item()"]


MASKED = """\
def masked(outputs, targets, lengths):
    losses = (outputs - targets) ** 2
    return losses.sum() / LENGTHS.sum()


def train_batch(network, optimizer, batch, targets, lengths):
    pointer = masked(network(batch), targets, lengths)
    loss = pointer + masked(network(batch), -targets, lengths)
    loss.backward()
    optimizer.step()
    print(pointer.data[0])
"""


@pytest.mark.parametrize(("lengths", "codes"), [("lengths.float()", ["AD401"]), ("lengths", [])])
def test_the_sum_of_what_is_cast_has_no_dimension(lengths: str, codes: list[str]) -> None:
    program = f"import torch\n\n\n{MASKED}".replace("LENGTHS", lengths)
    found = check(Source.from_text(program, "program.py"), CheckOptions()).findings
    assert [finding.code for finding in found] == codes
