"""Which paths are run first: of many, the budget lets only some be run."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.exploring import variants
from autodetach.machine.oracle import Policy
from autodetach.machine.passed_by import passed_by
from autodetach.machine.running import FUEL_PER_RUN, run_once

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


CHOSEN = """\
import argparse
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.one = nn.Linear(3, 3)
        if DECIDED:
            self.one = nn.Linear(3, 3, bias=False)


def auxiliary(x):
    x.sum().backward()


def train(options):
    net = Net(options)
    if options.small:
        net = nn.Linear(3, 3)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.randn(10, 2, 3):
        opt.zero_grad()
        loss = net.one(x).sum()
        WAY
        opt.step()


parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="a")
parser.add_argument("--small", action="store_true", default=False)
train(parser.parse_args())
"""


@pytest.mark.parametrize(
    "decided", ["options.kind == 'b'", "options.kind != 'b'", "options.kind == 'a'", "len(options.x)"]
)
@pytest.mark.parametrize(
    ("way", "leads"),
    [
        ("if options.kind == 'b':\n            loss.backward()", True),
        ("if options.kind != 'b':\n            pass\n        else:\n            auxiliary(loss)", True),
        ("if options.kind != 'b':\n            continue\n        loss.backward()", True),
        ("if options.kind == 'b':\n            print(loss)", False),
        ("loss.backward()\n        if options.kind == 'b':\n            loss = loss.detach()", False),
    ],
)
def test_a_test_leads_to_what_is_differentiated_the_other_way_wherever_it_is_decided(
    decided: str, way: str, leads: bool
) -> None:
    tree = ast.parse(CHOSEN.replace("DECIDED", decided).replace("WAY", way))
    run = run_once(tree, Policy(), FUEL_PER_RUN)
    past = passed_by([tree], run.machine.executed, run.called, run.machine.oracle)
    asked = [decision.text for decision in run.machine.oracle.decisions.values() if past.lie_behind(decision)]
    assert len(asked) == leads
    assert all("options.kind" in text for text in asked)
