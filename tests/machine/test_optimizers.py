"""Which parameters an optimizer has, however they are handed to it: each of them, in a network of many layers too."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.exploring import analyse

PROGRAM = """\
import itertools
from itertools import *

import mylib
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lower = nn.Sequential(LAYERS)
        self.upper = nn.Sequential(LAYERS)

    def forward(self, x):
        return self.upper(self.lower(x))


def chosen(net):
    trained, biases = [], []
    for name, p in net.named_parameters():
        if name.endswith("bias"):
            biases.append(p)
        else:
            trained.append(p)
    return trained + biases


net = Net()
optimizer = torch.optim.SGD({}, lr=0.1)
net(torch.randn(2, 4)).sum().backward()
optimizer.step()
"""
LAYERS = ", ".join(["nn.Linear(4, 4)"] * 40)


@pytest.mark.parametrize(
    "parameters",
    [
        "net.parameters()",
        "chain(net.lower.parameters(), net.upper.parameters())",  # from where nobody says what there is
        "list(net.parameters())",
        "filter(lambda p: p.requires_grad, net.parameters())",
        "[p for p in net.parameters() if p.requires_grad]",
        "(p for _, p in net.named_parameters())",
        "[p for half in [net.lower, net.upper] for p in half.parameters()]",
        "itertools.chain(net.lower.parameters(), net.upper.parameters())",
        "[*net.lower.parameters(), *net.upper.parameters()]",
        "[{'params': net.lower.parameters()}, {'params': list(net.upper.parameters()), 'lr': 0.01}]",
        "[{'params': p} for p in net.parameters()]",
        "chosen(net)",
        "mylib.groups(net)",  # which ones nobody says: any may be
        "[{'params': mylib.decayed(net)}, {'params': mylib.others(net), 'lr': 0.01}]",
    ],
)
def test_all_are_stepped(parameters: str) -> None:
    text = PROGRAM.replace("LAYERS", LAYERS).replace("{}", parameters)
    (step,) = analyse(ast.parse(text)).runs[0].machine.steps
    assert len(step.consumed) == 160


GIVEN = """\
import torch
from torch import nn

net = nn.Linear(3, 1)
weights = list(net.parameters())
optimizer = torch.optim.SGD(weights, lr=0.1)
loss = net(torch.randn(4, 3)).square().mean()
for w, g in zip(weights, torch.autograd.grad(loss, weights)):
    w.grad = {}
optimizer.step()
"""


@pytest.mark.parametrize(
    ("gradient", "is_stepped"),
    [("g", True), ("0.5 * g.clamp(-1, 1)", True), ("torch.zeros_like(w)", False), ("None", False)],
)
def test_gradient_that_the_program_assigns_is_stepped_with(gradient: str, is_stepped: bool) -> None:
    machine = analyse(ast.parse(GIVEN.replace("{}", gradient))).runs[0].machine
    (step,) = (s for s in machine.steps if s.what == "step")
    leaves = [leaf for leaf, by in step.consumed if by == (machine.differentiations[0],)]
    assert len(leaves) == (2 if is_stepped else 0)


GROUPED = """\
import mylib
import torch
from torch import nn

body, head = nn.Linear(4, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD({}, lr=0.1)
optimizer.param_groups[1]["lr"] = 0.2
for p in optimizer.param_groups[1]["params"]:
    p.requires_grad_(False)
body(head.weight).sum().backward()
"""


@pytest.mark.parametrize(
    "parameters",
    [
        "[{'params': body.parameters()}, {'params': head.parameters(), 'lr': 1.0}]",
        "({'params': one.parameters()} for one in (body, head))",
        "params=[{'params': [body.weight, body.bias]}, {'params': list(head.parameters())}]",
        "body.parameters(), lr=0.1)\noptimizer.add_param_group({'params': head.parameters()}",
    ],
)
def test_groups_hold_what_each_was_given(parameters: str) -> None:
    text = GROUPED.replace("{}, lr=0.1", parameters)
    (run, *_) = analyse(ast.parse(text)).runs
    (differentiation,) = run.machine.differentiations
    assert run.stopped_by == ""
    assert sum(node.leaf for node in differentiation.walked) == 2  # the weight of `head` is frozen


@pytest.mark.parametrize("parameters", ["mylib.groups(body, head)", "[*mylib.groups(body), {'params': []}]"])
def test_groups_that_nobody_knows_may_be_any_number(parameters: str) -> None:
    (run, *_) = analyse(ast.parse(GROUPED.replace("{}", parameters))).runs
    assert run.stopped_by == ""
    assert run.machine.differentiations
