"""A count divided by 1 leaves nothing, whatever it is: a window of one step ends in every pass."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

TRAINING = """\
import torch
from torch import nn


def train(data, start, rate, every={every}):
    cell = nn.GRUCell(4, 4)
    optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
    h, time = torch.zeros(2, 4), 0.0
    for step, x in enumerate(data):
        time += rate
        h = cell(x, h)
        loss = h.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if {test}:
            h = h.detach()
"""


def found(every: object, test: str) -> list[str]:
    source = Source.from_bytes(TRAINING.format(every=every, test=test).encode(), "train.py")
    return [finding.code for finding in check(source, CheckOptions()).findings]


@pytest.mark.parametrize(
    "test",
    [
        "step % every == 0",
        "(step + 1) % every == 0",
        "not step % every",
        "step // every % every == 0",
        "(step + 1) % (step + 1) == 0",
        "(step + 1) // (step + 1) == 1",
    ],
)
def test_a_count_leaves_nothing(test: str) -> None:
    assert found(1, test) == []


@pytest.mark.parametrize(
    ("every", "test"),
    [
        (2, "step % every == 0"),
        (1, "step % (every + 1) == 0"),
        (1, "step % every != 0"),
        (1, "time % every == 0"),
        (1, "start % every == 0"),
        (1.0, "step * 0.5 % every == 0"),
    ],
)
def test_anything_else_may_leave_something(every: object, test: str) -> None:
    assert found(every, test) == ["AD302"]
