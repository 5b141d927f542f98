"""A test of the number of a pass may be true in the first one alone: what it asks for is said by arithmetic."""

from __future__ import annotations

import math

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.machine.spans import outcome_of, span_made, span_of, truth_of, whole
from autodetach.machine.values import Span, Sym, Value
from autodetach.source import Source

PROGRAM = """
import torch
from torch import nn

cell, model = nn.GRUCell(3, 4), nn.Linear(3, 4)
optimizer = torch.optim.SGD([*cell.parameters(), *model.parameters()], lr=0.01)
data = torch.randn(12, 2, 3)
n = 0
start = cell(data[-1])
for i in range(12):
    if {test}:
        loss = start.pow(2).mean()
    else:
        loss = model(data[i]).pow(2).mean()
    {step}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def codes(test: str, step: str = "pass", head: str = "range(12)") -> list[str]:
    text = PROGRAM.format(test=test, step=step).replace("range(12)", head)
    return [finding.code for finding in check(Source.from_text(text, "first.py"), CheckOptions()).findings]


ONLY_FIRST = (
    "i * 2 == 0", "12 - i == 12", "12 - i > 11", "i ** 2 == 0", "2 ** i == 1", "i / 12 == 0", "i * i < 1", "not i * 2",
    "3 * i + 1 <= 3", "-i >= 0", "int(i) == 0", "float(i) * 2 < 1",
)  # fmt: skip


@pytest.mark.parametrize("test", ONLY_FIRST)
@pytest.mark.parametrize("head", ["range(12)", "range(len(data))"])
def test_it_is_true_in_the_first_pass_alone(test: str, head: str) -> None:
    assert codes(test, head=head) == []


@pytest.mark.parametrize("test", ["i % 12 == 0", "not i % 12", "i // 12 > 0 or i == 0", "(i + 12) // 12 == 1 > i"])
def test_it_follows_from_how_far_the_loop_goes(test: str) -> None:
    assert codes(test) == []


@pytest.mark.parametrize("test", ["i % 6 == 0", "i // 12 == 0", "12 - i > 6", "i * 2 >= 0", "i - 3 == 0 or i == 0"])
def test_it_is_true_again(test: str) -> None:
    assert codes(test) == ["AD301"]


@pytest.mark.parametrize("step", ["n += -1", "n = n + -1", "n -= 1", "n += 1", "n = -1 + n"])
def test_a_count_may_go_down(step: str) -> None:
    assert codes("n == 0", step) == []


def number(least: float, most: float) -> Value:
    return Sym(("fresh", 1), "number", span=Span(least, most))


@pytest.mark.parametrize(
    ("op", "left", "right", "expected"),
    [
        ("Add", number(1, 11), 2.5, (3.5, 13.5)),
        ("Sub", 12, number(1, math.inf), (-math.inf, 11)),
        ("Mult", number(-1, 2), number(3, 4), (-4, 8)),
        ("Mult", number(1, math.inf), 0, (0, 0)),
        ("FloorDiv", number(-1, 11), 12, (-1, 0)),
        ("FloorDiv", number(1, math.inf), 12, (0, math.inf)),
        ("Mod", number(1, 11), 12, (1, 11)),
        ("Mod", number(1, 12), 12, (0, 12)),
        ("Pow", number(1, 11), 2, (1, 121)),
        ("Pow", number(2, 1e30), 2, (4, math.inf)),
        ("Mult", number(1, 1 << 60), 1 << 60, (1 << 60, math.inf)),
        ("Add", 1.5, 10**400, (1 << 64, math.inf)),
    ],
)
def test_what_operators_make(op: str, left: Value, right: Value, expected: tuple[float, float]) -> None:
    assert span_made(op, left, right) == expected


@pytest.mark.parametrize(
    ("op", "left", "right"),
    [
        ("Div", number(1, 2), number(-1, 1)), ("Mod", 7, number(1, 2)), ("Pow", number(0, 2), 2), ("LShift", 1, 2),
        ("Add", number(1, 2), math.nan), ("Add", "a", 1), ("Mult", None, 1),
    ],
)  # fmt: skip
def test_nothing_is_said_of_others(op: str, left: Value, right: Value) -> None:
    assert span_made(op, left, right) is None


def test_comparisons_and_truths() -> None:
    few = number(1, 11)
    assert [outcome_of(op, few, 12) for op in ("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE")] == [
        False, True, True, True, False, False
    ]  # fmt: skip
    assert [outcome_of(op, few, 11) for op in ("Eq", "Lt", "LtE", "Gt", "GtE")] == [None, None, True, False, None]
    signs = ("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE")
    assert [outcome_of(op, number(3, 3), 3) for op in signs] == [True, False, False, True, False, True]
    assert [outcome_of(op, few, few) for op in signs] == [None] * 6
    assert outcome_of("In", few, few) is None
    assert [whole(Span(-2.5, math.inf)), whole(Span(0.5, 3))] == [(-2, math.inf), (0, 3)]
    assert [truth_of(n) for n in (few, number(-2, -1), number(0, 0), number(0, 1), "a")] == [
        True, True, False, None, None
    ]  # fmt: skip
    assert span_of(Sym(("fresh", 1), "number", 3)) == (3, math.inf)
    assert span_of(Sym(("fresh", 1), "bool", 3)) is None
