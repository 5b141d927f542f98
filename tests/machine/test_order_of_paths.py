"""Which paths are run first: of many, the budget lets only some be run."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.oracle import Policy
from autodetach.machine.run import FUEL_PER_RUN, run_once, variants

PROGRAM = """\
import torch


def train(deep, force_cpu):
    use_cuda = torch.cuda.is_available()
    net = torch.nn.Linear(3, 1)
    TEST
    if deep:
        net = torch.nn.Sequential(net, torch.nn.Linear(1, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.randn(10, 2, 3):
        opt.zero_grad()
        net(x).sum().backward()
        opt.step()
"""


@pytest.mark.parametrize(
    "test",
    [
        "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
        "device = torch.device('cpu' if not torch.cuda.is_available() else 'cuda')",
        "device = torch.device('cuda' if use_cuda else 'cpu')",
        "net = net.cuda() if use_cuda else net",
    ],
)
def test_what_there_is_to_compute_on_is_asked_last(test: str) -> None:
    run = run_once(ast.parse(PROGRAM.replace("TEST", test)), Policy(), FUEL_PER_RUN)
    others = [policy.flips[0][0][1] for policy in variants(run) if policy.flips[0][1] == "other"]
    assert others[0] == "deep"
    assert len(others) == 2


STOPPED = """\
import torch


def later(deep):
    net = torch.nn.Linear(3, 1)
    if deep:
        net = torch.nn.Sequential(net, torch.nn.Linear(1, 1))
    for x in torch.randn(10, 2, 3):
        net(x).sum().backward()


def options(name):
    if name in ("a", "b"):
        return {"rate": 0.1}


print(options(input())["rate"])
"""


def test_what_was_asked_before_an_error_goes_the_other_way_first() -> None:
    """Functions that nobody calls are entered behind it, and what they ask has nothing to do with it."""
    run = run_once(ast.parse(STOPPED), Policy(), FUEL_PER_RUN)
    assert run.stopped_by == "TypeError"
    others = [policy.flips[0][0][1] for policy in variants(run) if policy.flips[0][1] == "other"]
    assert others[0] == "name in ('a', 'b')"
    assert "deep" in others
