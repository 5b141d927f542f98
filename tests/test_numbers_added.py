"""A term of a loss that is read as a number is told where nobody sees the sum: then it has no use at all."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

TRAINING = """\
import torch
import torch.nn.functional as F
from torch import nn

shared, head, side = nn.Linear(4, 6), nn.Linear(6, 2), nn.Linear(6, 3)
optimizer = torch.optim.SGD([*shared.parameters(), *head.parameters()], lr=0.1)


def fit(x, labels, sides):
    shown = []
    for _ in range(4):
        hidden = shared(x).tanh()
        scores = head(hidden)
        error = F.cross_entropy(scores, labels)
        spread = F.cross_entropy(side(hidden), sides)
        number = spread.item()
        shown.append(number)
        optimizer.zero_grad()
        USED
        optimizer.step()
    return shown


print(fit(torch.randn(9, 4), torch.randint(2, (9,)), torch.randint(3, (9,))))
"""


def codes_of(used: str) -> list[str]:
    source = Source.from_text(TRAINING.replace("USED", used.replace("; ", "\n        ")), "program.py")
    return [finding.code for finding in check(source, CheckOptions()).findings]


@pytest.mark.parametrize(
    "used",
    [
        "loss = error + 0.3 * number; loss.backward()",
        "error += spread.detach().item(); error.backward()",
        "(error + number).backward()",
        "loss = error + number; half = loss / 2; half.backward()",
        "loss = 0.5 * number + error; torch.autograd.backward(loss)",
        "loss = error + F.cross_entropy(side(hidden).detach(), sides); loss.backward()",
    ],
)
def test_nobody_sees_the_sum(used: str) -> None:
    assert codes_of(used) == ["AD501"]


@pytest.mark.parametrize(
    "used",
    [
        "loss = error + 0.3 * number; loss.backward(); print(loss.item())",
        "loss = error + number; shown[-1] = float(loss); loss.backward()",
        "loss = error + number; loss.backward(); shown.append(loss.detach())",
        "loss = error + spread.detach(); loss.backward()",
        "loss = error + number; loss.backward(retain_graph=True); spread.backward()",
        "loss = error * number + number; loss.backward()",
        "loss = error + (spread - error).item(); loss.backward()",
        "top = scores.max().item(); loss = (scores - top).exp().sum().log() + top; loss.backward()",
        "loss = error + (number if labels.sum() > 4 else spread); loss.backward()",
        "loss = error + number * 0; loss.backward()",
        "loss = (error + number).log(); loss.backward()",
    ],
)
def test_the_value_has_its_use(used: str) -> None:
    assert codes_of(used) == []
