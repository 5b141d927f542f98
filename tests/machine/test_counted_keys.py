"""Keys of a dict that are made of the number of a pass: those of a loop that begins anew are there already."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.exploring import analyse
from autodetach.machine.growing_stores import growing_store, stored_alike
from autodetach.machine.walked_stores import Walks

PROGRAM = """\
import torch
from torch import nn


class Log:
    def __init__(self):
        self.rows = {}

    def write(self, key, value):
        self.rows[key] = value


log, count = Log(), 0
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(5):
    for i in RANGE:
        loss = net(torch.rand(2, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log.write(KEY, loss)
        count += 1
"""


def _grows(key: str, numbers: str) -> bool:
    (run, *_) = analyse(ast.parse(PROGRAM.replace("RANGE", numbers).replace("KEY", key))).runs
    walks = Walks()
    return any(growing_store(run, events, walks, ()) for events in stored_alike(run))


@pytest.mark.parametrize(
    "key", ["i", "f'loss{i}'", "'loss%d' % i", "'loss{}'.format(i)", "'loss' + str(i)", "('loss', i)", "i + 1"]
)
@pytest.mark.parametrize("numbers", ["range(100)", "range(1, 100, 2)"])
def test_the_same_keys_in_every_epoch(key: str, numbers: str) -> None:
    assert not _grows(key, numbers)


@pytest.mark.parametrize(
    "key", ["(epoch, i)", "f'loss{epoch}-{i}'", "'loss{}'.format(count)", "count", "epoch * 100 + i", "len(log.rows)"]
)
def test_keys_of_its_own_in_every_epoch(key: str) -> None:
    assert _grows(key, "range(100)")


def test_a_range_that_begins_elsewhere_in_every_epoch() -> None:
    assert _grows("i", "range(100 * epoch, 100 * epoch + 100)")
