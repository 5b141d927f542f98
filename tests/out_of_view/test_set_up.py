"""Methods that nobody in view calls make what others need: somebody calls them first."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

TRAINER = """\
import torch
from torch import nn
from stages import Stage


class Trainer(Stage):
    FIRST

    def build_network(self):
        self.network = nn.Linear(4, 1)
        self.criterion = nn.MSELoss()

    def build_optimizer(self):
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.1)

    def run_epoch(self, loader):
        total = 0
        for x, y in loader:
            loss = self.criterion(self.network(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss
        return total
"""


@pytest.mark.parametrize("base", ["Stage", "object"])
@pytest.mark.parametrize(
    "first",
    [
        "rate = 0.1",
        "def __init__(self):\n        self.network = self.criterion = self.optimizer = None",
    ],
)
def test_what_a_builder_makes_is_known_where_it_is_trained(first: str, base: str) -> None:
    text = TRAINER.replace("FIRST", first).replace("(Stage)", f"({base})")
    (finding,) = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    assert finding.code == "AD101"
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.SAFE


STATEFUL = """\
import torch
from torch import nn


class Runner:
    def __init__(self):
        self.cell = nn.GRUCell(4, 8)
        self.readout = nn.Linear(8, 1)
        self.optimizer = torch.optim.SGD([*self.cell.parameters(), *self.readout.parameters()], lr=0.1)
        self.hidden = None

    def resume(self, hidden):
        self.hidden = self.cell(hidden, hidden)

    def run_epoch(self, batches):
        for x, y in batches:
            if self.hidden is not None:
                self.hidden = self.hidden.detach()
            self.hidden = self.cell(x, self.hidden)
            loss = (self.readout(self.hidden) - y).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""


def test_a_state_that_may_be_none_is_left_so() -> None:
    assert not check(Source.from_text(STATEFUL, "program.py"), CheckOptions()).findings


BY_CLASS = """\
from torch import nn, optim


class Trainer:
    def __init__(self):
        self.total = 0

    def build(self):
        Trainer.network = nn.Linear(2, 2)
        self.optimizer = optim.SGD(self.network.parameters(), 0.1)

    def step(self, x):
        loss = self.network(x).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.total += loss
"""


def test_a_builder_may_give_the_class_what_it_makes() -> None:
    (finding,) = check(Source.from_text(BY_CLASS, "program.py"), CheckOptions()).findings
    assert finding.code == "AD101"
