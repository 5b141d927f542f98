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


RECORD = """
import torch
from dataclasses import dataclass, replace

@dataclass(frozen=True)
class Window:
    total: object = 0.0
    steps: int = 0

model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def loss():
    return model(torch.randn(4, 3)).pow(2).mean()

def updated(total):
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    return Window()

def flush():
    global window
    window = updated(window.total)

def either(window):
    return updated(window.total) if window.steps == 4 else window

def train(window):
    return updated(window.total)

def wait(window):
    return window

ACTIONS = {{4: train}}
due = lambda window: updated(window.total) if window.steps == 4 else window
shown, window = 0.0, Window()
for x in torch.randn(40, 2, 3):
    window = replace(window, total=window.total + loss(), steps=window.steps + 1)
    {body}
"""


def codes_of(body: str) -> list[str]:
    text = RECORD.format(body=body.replace("\n", "\n    "))
    return [finding.code for finding in check(Source.from_text(text, "record.py"), CheckOptions()).findings]


@pytest.mark.parametrize(
    "body",
    [
        "window = updated(window.total) if window.steps == 4 else window",
        "window.steps == 4 and (window := updated(window.total))",
        "window.steps == 4 and updated(window.total)\nwindow = Window() if window.steps == 4 else window",
        "for total in [window.total for _ in 'x' if window.steps == 4]:\n    window = updated(total)",
        "window = next((updated(window.total) for _ in 'x' if window.steps == 4), window)",
        "window = {4: lambda: updated(window.total)}.get(window.steps, lambda: window)()",
        "while window.steps >= 4:\n    window = updated(window.total)",
        "while window.steps < 4:\n    break\nelse:\n    window = updated(window.total)",
        "for _ in range(window.steps // 4):\n    window = updated(window.total)",
        "try:\n    assert window.steps < 4\nexcept AssertionError:\n    window = updated(window.total)",
        "if window.steps < 4:\n    continue\nwindow = updated(window.total)",
        "match window.steps:\n    case 4 | 8:\n        window = updated(window.total)",
        "match window:\n    case Window(total=total, steps=steps) if steps == 4:\n        window = updated(total)",
        "match window.total, window.steps:\n    case total, 4:\n        window = updated(total)",
        "if window.steps == 4:\n    flush()",
        "window.steps == 4 and flush()",
        "window = either(window)",
        "window = due(window)",
        "window = [wait, train][window.steps == 4](window)",
        "window = ACTIONS.get(window.steps, wait)(window)",
        "action = train if window.steps == 4 else wait\nwindow = action(window)",
        "window = next(map(train, [window] * (window.steps == 4)), window)",
        "other = window\nother = updated(other.total) if other.steps == 4 else other\nwindow = other",
    ],
)
def test_a_branch_may_be_of_any_kind(body: str) -> None:
    assert codes_of(body) == []


@pytest.mark.parametrize(
    "body",
    [
        "shown = shown + loss()\nwindow = updated(window.total) if window.steps == 4 else window",
        "shown = shown + loss() * (1 if window.steps < 4 else 2)\nwindow = either(window)",
        "shown = shown + loss()\nmean = shown / 2\nif window.steps == 4:\n    window, mean = updated(window.total), 0",
        "shown = shown + loss()\nwindow = ACTIONS.get(window.steps, wait)(window)",
        "total = loss()\nupdated(total)\nshown = shown + total\nprint([float, str][window.steps == 4](shown))",
    ],
)
def test_what_it_does_not_begin_anew_is_told(body: str) -> None:
    assert codes_of(f"{body}\nprint(float(shown))") == ["AD101"]
