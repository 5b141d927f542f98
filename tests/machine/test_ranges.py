"""What was decided about a number tells whether a range up to it is empty."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

TRAINING = """\
import torch
from torch import nn


class Learner:
    def __init__(self, net):
        self.net, self.old = net, None
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def train(self, t, start, batches):
        losses = []
        before = None
        if TEST:
            before = self.old.all(t)
        for x, y in batches:
            loss = nn.functional.mse_loss(self.net(x), y)
            for k in RANGE:
                loss = loss + before[k]
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss)
        print(sum(losses).item())
"""


def codes(test: str, range_: str) -> list[str]:
    text = TRAINING.replace("TEST", test).replace("RANGE", range_)
    return [finding.code for finding in check(Source.from_text(text, "program.py"), CheckOptions()).findings]


@pytest.mark.parametrize(
    ("test", "range_"),
    [
        ("t > 0", "range(t)"),
        ("t > 0", "range(0, t)"),
        ("0 < t", "reversed(range(t))"),
        ("t >= 1", "range(t)"),
        ("t != 0", "range(t)"),
        ("not t == 0", "range(t)"),
        ("not t <= 0", "range(t)"),
        ("not (t < 1)", "range(t)"),
        ("t", "range(t)"),
        ("t > 1", "range(1, t)"),
        ("t >= 2", "range(1, t)"),
        ("t != 0", "range(2, t)"),
        ("t > start", "range(start, t)"),
        ("start < t", "range(start, t)"),
        ("t != start", "range(start, t)"),
    ],
)
def test_a_range_is_empty_where_its_bound_was_found_to_be_little(test: str, range_: str) -> None:
    assert "AD102" in codes(test, range_)


@pytest.mark.parametrize(
    ("test", "range_"),
    [
        ("t > 1", "range(t)"),
        ("t > 0", "range(t + 1)"),
        ("t > 0", "range(t, 0, -1)"),
        ("t > 0", "range(-1, t)"),
        ("t > 0", "range(start, t)"),
        ("t != 2", "range(t)"),
        ("t", "range(-1, t)"),
        ("self.old is not None", "range(t)"),
    ],
)
def test_else_it_may_have_items(test: str, range_: str) -> None:
    """None is no list: the loss is not kept on a path that comes there."""
    assert "AD102" not in codes(test, range_)
