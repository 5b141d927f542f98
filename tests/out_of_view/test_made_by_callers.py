"""Nobody in view makes an object: its caller gives what a method cannot do without, though it need not be given."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

SOLVER = """\
import torch
from torch import nn


class Base:
    def __init__(self, net, config=None, loader=None, scheduler=None):
        self.net = net
        self.config = config
        self.loader = loader
        self.scheduler = scheduler
        self.optimizer = None if config is None else torch.optim.SGD(net.parameters(), lr=config.lr)


class Solver(Base):
    def build(self):
        self.criterion = nn.MSELoss(reduction=self.config.reduction)

    def train(self):
        total = 0
        FIRST
        for x, y in self.loader:
            loss = nn.functional.mse_loss(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if self.scheduler is not None:
                self.scheduler.step()
            total += loss
        print(ADDED)
"""


def codes(text: str) -> list[str]:
    return [finding.code for finding in check(Source.from_text(text, "program.py"), CheckOptions()).findings]


@pytest.mark.parametrize(
    "first",
    [
        "pass",
        "print(self.config.name)",
        "assert self.loader is not None",
        "if self.loader is None:\n            raise ValueError('what with?')",
        "self.criterion(torch.zeros(1), torch.zeros(1)).item()",
        "loader = self.loader\n        if not loader: raise RuntimeError('what with?')",
        "print(len(self.loader))",
    ],
)
def test_what_is_none_by_default_is_given_where_a_method_needs_it(first: str) -> None:
    assert codes(SOLVER.replace("FIRST", first).replace("ADDED", "total.item()")) == ["AD101"]


@pytest.mark.parametrize(
    "made",
    ["Solver(nn.Linear(2, 1))", "solvers = [Solver(nn.Linear(2, 1), config=None)]", "Solver(nn.Linear(2, 1)).train()"],
)
def test_what_the_program_leaves_out_is_none(made: str) -> None:
    text = SOLVER.replace("FIRST", "pass").replace("ADDED", "total.item()")
    assert codes(f"{text}\n\n{made}\n") == []


def test_what_is_healthy_is_so_with_more() -> None:
    healthy = SOLVER.replace("FIRST", "pass").replace("total += loss", "total += loss.item()").replace("ADDED", "total")
    assert codes(healthy) == []


STATE = """\
import torch
from torch import nn


class Runner:
    def __init__(self, width=8, hidden=None, batches=None):
        self.cell = nn.GRUCell(4, width)
        self.optimizer = torch.optim.SGD(self.cell.parameters(), lr=0.1)
        self.hidden = hidden
        self.batches = batches

    def run(self):
        for x, y in self.batches:
            hidden = self.hidden
            if hidden is not None:
                hidden = hidden.detach()
            self.hidden = self.cell(x, hidden)
            loss = (self.hidden - y).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""


def test_a_state_that_may_be_given_is_detached() -> None:
    assert codes(STATE) == []
    assert codes(STATE.replace("hidden = hidden.detach()", "pass")) == ["AD302"]
