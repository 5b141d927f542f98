"""Slices of a list that a loop has filled: other elements where their bounds are others, the same where they meet."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

HEAD = """\
import torch

model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
values = []
for x in torch.randn(12, 4):
    values.append(model(x))
"""
APART = {
    "halves": "sum(values[:6]).backward()\nsum(values[6:]).backward()\n",
    "bounds in a list": "for a, b in zip(range(0, 12, 4), range(4, 13, 4)):\n    sum(values[a:b]).backward()\n",
    "counted by the end": "for end in range(4, 13, 4):\n    sum(values[end - 4 : end]).backward()\n",
    "multiples": "n = 4\nfor k in range(3):\n    sum(values[k * n : (k + 1) * n]).backward()\n",
    "one by one": "for k in range(0, 12, 4):\n    for value in values[k : k + 4]:\n        value.backward()\n",
    "made before": (
        "chunks = [values[k : k + 4] for k in range(0, len(values), 4)]\nfor chunk in chunks:\n"
        "    sum(chunk).backward()\n"
    ),
    "written back": "while values:\n    part, values[:] = values[:4], values[4:]\n    sum(part).backward()\n",
    "emptied in front": "while values:\n    part = values[:4]\n    values[:4] = []\n    sum(part).backward()\n",
    "odd and even": "sum(values[::2]).backward()\nsum(values[1::2]).backward()\n",
    "backwards in halves": "sum(values[::-1][:6]).backward()\nsum(values[:6]).backward()\n",
    "at a place nobody knows": "k = len(values) // 3\nsum(values[:k]).backward()\nsum(values[k:]).backward()\n",
    "ended by the first": "sum(values[:6][:8]).backward()\nsum(values[6:]).backward()\n",
    "turned round": "sum(values[:6]).backward()\nvalues.reverse()\nsum(values[:6]).backward()\n",
    "halves of copies": "sum(list(values)[:6]).backward()\nsum(list(values)[6:]).backward()\n",
    "a copy turned round": (
        "sum(list(values)[:6]).backward()\nturned = list(values)\nturned.reverse()\nsum(turned[:6]).backward()\n"
    ),
    "off the end": "while values:\n    part, values = values[-4:], values[:-4]\n    sum(part).backward()\n",
}
AGAIN = {
    "the same": "sum(values[2:6]).backward()\nsum(values[2:6]).backward()\n",
    "one in common": "sum(values[:6]).backward()\nsum(values[5:]).backward()\n",
    "all to the end": "for k in range(3):\n    sum(values[k:]).backward()\n",
    "all from the begin": "for k in range(3):\n    sum(values[: k + 1]).backward()\n",
    "windows": "for k in range(0, 8, 2):\n    sum(values[k : k + 4]).backward()\n",
    "prefixes": "for k in range(1, len(values)):\n    sum(values[:k]).backward()\n",
    "parts of a part": "part = values[3 : len(values)]\nsum(part[:4]).backward()\nsum(part[2:]).backward()\n",
    "every second": "sum(values[::2]).backward()\nsum(values[:6]).backward()\n",
    "every second and third": "sum(values[::2]).backward()\nsum(values[::3]).backward()\n",
    "one that a stride begins at": "sum(values[4::2]).backward()\nsum(values[3:6]).backward()\n",
    "backwards": "sum(values[::-1]).backward()\nsum(values[:6]).backward()\n",
    "copies": "sum(list(values)[:4]).backward()\nsum(values.copy()[2:6]).backward()\n",
    "after the whole": "sum(values).backward()\nfor k in range(0, 12, 4):\n    sum(values[k : k + 4]).backward()\n",
}

RING = """\
from collections import deque

ring = deque(maxlen={})
for t, x in enumerate(torch.randn(48, 4)):
    ring.append(model(x))
    if t % 4 == 3:
        sum(list(ring)[:{}]).backward()
"""
REFILLED = """\
from collections import deque

ring = deque(maxlen=12)
for _ in range(3):
    for x in torch.randn(12, 4):
        ring.append(model(x))
    sum(list(ring)[:4]).backward()
"""
TURNED = """\
from collections import deque

ring = deque(values)
for _ in range(3):
    sum(list(ring)[:4]).backward()
    ring.rotate(-4)
"""

STEP = "sgd = torch.optim.SGD(model.parameters(), lr=0.1)\n"
STALE = {
    "halves": "sum(values[:6]).backward()\nsgd.step()\nsum(values[6:]).backward()\n",
    "made before": "one, other = values[:6], values[6:]\nsum(one).backward()\nsgd.step()\nsum(other).backward()\n",
}
OFF_THE_FRONT = "while values:\n    sum(values[:4]).backward()\n    sgd.step()\n    values = values[4:]\n"
YOUNGER = """\
values = []
for t, x in enumerate(torch.randn(12, 4)):
    values.append(model(x))
    if t == 5:
        sum(values[:6]).backward()
        sgd.step()
sum(values[6:]).backward()
"""


def _codes(program: str) -> list[str]:
    return [f.code for f in check(Source.from_text(HEAD + program, "program.py"), CheckOptions()).findings]


@pytest.mark.parametrize("program", APART.values(), ids=APART.keys())
def test_other_bounds_are_other_elements(program: str) -> None:
    assert _codes(program) == []


@pytest.mark.parametrize("given", ["values", "[model(x) for x in torch.randn(3, 4)]"])
def test_a_step_of_zero_raises(given: str) -> None:
    program = f"given = {given}\ntry:\n    del given[0:2:0]\nexcept ValueError:\n    given = [model(x)]\n"
    assert _codes(f"{program}sum(given).backward()\n") == []


def test_every_second_one_is_left() -> None:
    program = "pair = [model(x), model(x)]\ndel pair[::2]\nsum(pair).backward()\nsum(pair).backward()\n"
    assert _codes(program) == ["AD201"]


@pytest.mark.parametrize("program", AGAIN.values(), ids=AGAIN.keys())
def test_slices_that_meet_share_an_element(program: str) -> None:
    assert _codes(program) == ["AD201"]


@pytest.mark.parametrize("program", STALE.values(), ids=STALE.keys())
def test_a_step_makes_all_elements_stale_that_were_stored_before(program: str) -> None:
    assert _codes(STEP + program) == ["AD202"]


def test_what_a_loop_takes_off_is_not_computed_again_in_it() -> None:
    report = check(Source.from_text(HEAD + STEP + OFF_THE_FRONT, "program.py"), CheckOptions())
    assert [(f.code, f.fix) for f in report.findings] == [("AD301", None)]


def test_elements_may_be_stored_after_a_step() -> None:
    assert _codes(STEP + YOUNGER) == []


@pytest.mark.parametrize(
    "program", [RING.format(4, 2), RING.format(8, 3).replace("% 4 == 3", "% 8 == 7"), REFILLED, TURNED]
)
def test_a_ring_has_others_in_front_once_it_is_filled_anew(program: str) -> None:
    assert _codes(program) == []


def test_a_ring_has_the_same_in_front_as_long_as_it_is_not_full() -> None:
    assert _codes(RING.format(8, 4)) == ["AD302"]
