"""`torch.stack` of a list that may be empty is safe where an empty one could not be differentiated before, either."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

PROGRAM = """\
import torch
from torch import nn

net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler()


def listed(inputs):
    return [loss for loss in (net(x).pow(2).mean() for x in inputs) if loss > 0.01]


def summed(losses):
    return torch.tensor(losses).sum()


for step in range(4):
    optimizer.zero_grad()
    losses, others = listed(torch.randn(8, 4)), listed(torch.randn(8, 4))
"""

STRAIGHT = {
    "in place": "torch.tensor(losses).sum().backward()",
    "named": "loss = torch.tensor(losses).sum()\nloss.backward()",
    "torch.mean": "loss = torch.mean(torch.tensor(losses))\nloss.backward()",
    "shown": "loss = torch.tensor(losses).sum()\nif step % 2:\n    print(loss.item())\nloss.backward()",
    "divided": "loss = torch.tensor(losses).sum()\nloss /= len(losses)\n(-loss * 2 + 1).backward()",
    "of two lists": ("a = torch.tensor(losses).sum()\nb = torch.tensor(others).sum()\nloss = a + b\nloss.backward()"),
    "scaled": "loss = torch.tensor(losses).sum()\nscaler.scale(loss).backward()",
    "in a with": "with torch.enable_grad():\n    loss = torch.tensor(losses).sum()\nloss.backward()",
    "into a with": "loss = torch.tensor(losses).sum()\nwith torch.enable_grad():\n    loss.backward()",
    "tested before": "if not losses:\n    continue\nloss = torch.tensor(losses).sum()\nloss.backward()",
    "in a branch": (
        "if step % 2:\n    loss = torch.tensor(losses).sum()\nelse:\n    print(step)\n    continue\nloss.backward()"
    ),
    "by a function": "loss = summed(losses)\nloss.backward()",
    "jumps behind": "with torch.enable_grad():\n    torch.tensor(losses).sum().backward()\n    if step:\n        break",
}
DECIDED = {
    "tested": "loss = torch.tensor(losses).sum()\nif loss > -1:\n    loss.backward()",
    "passed by": "loss = torch.tensor(losses).sum()\nif loss < -1:\n    continue\nloss.backward()",
    "tested by and": "loss = torch.tensor(losses).sum()\nloss > -1 and loss.backward()",
    "refused": "loss = torch.tensor(losses).sum()\nassert loss > -1\nloss.backward()",
    "raised": "loss = torch.tensor(losses).sum()\nif loss < -1:\n    raise ValueError\nloss.backward()",
    "one of two": (
        "loss = torch.tensor(losses).sum()\nloss += torch.tensor(others).sum() if step > 2 else 0\nloss.backward()"
    ),
    "looked at elsewhere": "loss = summed(losses)\nloss.backward()\nprint(summed(others).item())",
    "handed on": "loss = summed(losses)\nloss.backward()\nprint(list(map(summed, [others])))",
    "begins to require grad": (
        "loss = torch.tensor(losses).sum()\nif step > 9:\n    loss.requires_grad_()\nloss.backward()"
    ),
    "behind a loop": (
        "for others in range(2):\n    loss = torch.tensor(losses).sum()\n    print(loss.item())\nloss.backward()"
    ),
}


def applicability(body: str) -> Applicability | None:
    text = PROGRAM + "".join(f"    {row}\n" for row in body.splitlines()) + "    optimizer.step()\n"
    findings = [f for f in check(Source.from_text(text, "program.py"), CheckOptions()).findings if f.code == "AD501"]
    assert findings
    fix = findings[0].fix
    return None if fix is None else fix.applicability


@pytest.mark.parametrize("body", STRAIGHT.values(), ids=STRAIGHT)
def test_what_goes_straight_into_the_backward_is_safe(body: str) -> None:
    assert applicability(body) is Applicability.SAFE


@pytest.mark.parametrize("body", DECIDED.values(), ids=DECIDED)
def test_what_something_decides_on_is_not(body: str) -> None:
    assert applicability(body) is not Applicability.SAFE
