"""What is differentiated in an evaluation: its repair is safe only where nothing that is evaluated learns from it."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

ATTACK = """\
import torch
from torch import nn

net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
batches = [torch.randn(3, 4) for _ in range(3)]


def attack(x):
    at = x.clone().requires_grad_()
    loss = net(at).sum()
    loss.backward()
    return at.grad


for epoch in range(3):
    for x in batches:
        optimizer.zero_grad()
        net(x).pow(2).sum().backward()
        optimizer.step()
    with torch.no_grad():
        print(sum(attack(x).norm().item() for x in batches))
"""
ZEROED = "        optimizer.zero_grad()\n"
STEP = "        optimizer.step()\n"
SWITCHED = "    torch.set_grad_enabled(False)\n    validate(net, optimizer, [torch.randn(3, 4) for _ in range(3)])\n"

VALIDATED = """\
import torch
from torch import nn


def validate(net, optimizer, batches):
    for x in batches:
        loss = net(x).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    net = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    evaluated(net, optimizer, [torch.randn(3, 4) for _ in range(3)])


def evaluated(net, optimizer, batches):
    with torch.no_grad():
        validate(net, optimizer, batches)


main()
"""


@pytest.mark.parametrize(
    ("text", "is_safe"),
    [
        (ATTACK, True),
        (VALIDATED, False),
        (VALIDATED.replace("    evaluated(net, optimizer, [torch.randn(3, 4) for _ in range(3)])\n", SWITCHED), False),
    ],
)
def test_what_is_evaluated_learns_nothing_by_a_safe_repair(text: str, is_safe: bool) -> None:
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD501"
    assert finding.fix is not None
    assert (finding.fix.applicability is Applicability.SAFE) == is_safe


def test_a_later_step_takes_no_gradient_of_an_attack() -> None:
    text = ATTACK.replace(ZEROED, "").replace(STEP, STEP + ZEROED)
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD501"
    assert finding.fix is None
