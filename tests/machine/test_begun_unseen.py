"""What no run has come to, differentiates and begins anew what a loop carries may do so later: nothing is told."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """
import itertools
from dataclasses import dataclass, replace
from typing import NamedTuple
import torch

@dataclass
class Counted:
    left: int

class Named(NamedTuple):
    left: int

class Clock:
    def __init__(self):
        self.left = 4

    def tick(self):
        self.left -= 1
        return self.left == 0

def less(left):
    return left - 1

cell = torch.nn.GRUCell(3, 3)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
state, total = torch.zeros(2, 3), 0.0
{begin}
for x in torch.randn(40, 2, 3):
    state = cell(x, state)
    total = total + (state - x).pow(2).mean()
    {step}
    if {test}:
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        state, total = state.detach(), 0.0
        {begin}
"""


def codes(begin: str, step: str, test: str) -> list[str]:
    text = PROGRAM.format(begin=begin, step=step, test=test)
    return [finding.code for finding in check(Source.from_text(text, "truncated.py"), CheckOptions()).findings]


@pytest.mark.parametrize(
    ("begin", "step", "test"),
    [
        ("left = 4", "left -= 1", "left == 0"),
        ("left = 4", "left = left - 1", "not left"),
        ("left = 4", "left += -1", "left == 0"),
        ("left = 4", "left = left + -1", "not left"),
        ("left = 4", "left = less(left)", "left == 0"),
        ("turn = 0", "turn = (turn + 1) % 5", "turn == 0"),
        ("bits = 0", "bits = (bits + 1) & 7", "bits == 7"),
        ("left = [4]", "left[0] -= 1", "left[0] == 0"),
        ("left = {'a': 4}", "left['a'] -= 1", "left['a'] == 0"),
        ("left = {'a': 4}", "left = {**left, 'a': left['a'] - 1}", "left['a'] == 0"),
        ("left = (0, 4)", "left = (0, left[1] - 1)", "left[1] == 0"),
        ("counted = Counted(4)", "counted = replace(counted, left=counted.left - 1)", "counted.left == 0"),
        ("named = Named(4)", "named = named._replace(left=named.left - 1)", "named.left == 0"),
        ("clock = Clock()", "is_over = clock.tick()", "is_over"),
        ("now = 0.0", "now += 0.1", "now >= 0.4"),
        ("room = 1", "room *= 2", "room > 10"),
        ("last = itertools.cycle([False, False, False, True])", "pass", "next(last)"),
        ("left = 'xxxx'", "left = left[1:]", "not left"),
        ("at = 'a'", "at = dict(a='b', b='c', c='d', d='a')[at]", "at == 'd'"),
    ],
)
def test_it_may_come_to_what_it_asks_for(begin: str, step: str, test: str) -> None:
    assert codes(begin, step, test) == []
