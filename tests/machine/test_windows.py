"""Windows over a list that lie side by side are no fault, and those that overlap are."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """\
import torch
from torch import nn

cell = nn.GRUCell(3, 5)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)


def train(series, k):
    h, outputs = torch.zeros(2, 5), []
    for t in range(len(series)):
        h = cell(series[t], h)
        outputs.append(h)
        {test}:
            loss = torch.stack({window}).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            h = h.detach()


train(torch.rand(12, 2, 3), 4)
"""

SIDE_BY_SIDE = [
    ("if (t + 1) % k == 0", "outputs[t + 1 - k:t + 1]"),
    ("if t % k == k - 1", "outputs[t - k + 1:]"),
    ("if not (t + 1) % k and t", "outputs[-k:]"),
    ("if (t + 1) % 4 == 0", "outputs[-4:]"),
    ("if t % k != k - 1:\n            continue\n        if t", "outputs[-k:]"),
]
OVERLAPPING = [
    ("if t > 0", "outputs[-k:]"),
    ("if t % k == 1", "outputs[-2 * k:]"),
    ("if t % 2 == 1", "outputs[-4:]"),
    ("if t % 4 == 3 or t == 9", "outputs[-4:]"),
    ("if t % 4 == 0:\n            print(t)\n        if t", "outputs[-4:]"),
]


def codes(test: str, window: str) -> list[str]:
    text = PROGRAM.format(test=test, window=window)
    return [f.code for f in check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings]


@pytest.mark.parametrize(("test", "window"), SIDE_BY_SIDE)
def test_windows_side_by_side_share_nothing(test: str, window: str) -> None:
    assert codes(test, window) == []


@pytest.mark.parametrize(("test", "window"), OVERLAPPING)
def test_windows_that_overlap_are_differentiated_twice(test: str, window: str) -> None:
    assert codes(test, window) == ["AD302"]
