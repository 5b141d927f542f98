"""A test that is known in the first pass of a loop, and in no other, may be true again later: nothing is told then."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """
import math
import torch

cell = torch.nn.GRUCell(3, 3)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
state, terms, start = torch.zeros(2, 3), [], 0
for i, x in enumerate(torch.randn(40, 2, 3)):
    {before}
    state = cell(x, state)
    terms.append(state.pow(2).mean())
    if {test}:
        optimizer.zero_grad()
        {training}
        optimizer.step()
        state, terms = state.detach(), {kept}
print(state.sum())
"""
TRAINING = "sum(terms).backward()"


def found(test: str, before: str = "pass", training: str = TRAINING, kept: str = "[]") -> list[str]:
    text = PROGRAM.format(test=test, before=before, training=training, kept=kept)
    return [f.code for f in check(Source.from_bytes(text.encode(), "train.py"), CheckOptions()).findings]


@pytest.mark.parametrize(
    "test",
    [
        "i % 4 == 0",
        "not i % 4",
        "i / 4 == i // 4",
        "int(i / 4) * 4 == i",
        "divmod(i, 4)[1] == 0",
        "i - i // 4 * 4 == 0",
        "not i & 3",
        "-(-i // 4) * 4 == i",
        "i in [0, 5, 12, 30]",
        "i < 1 or i > 20",
        "str(i)[-1] in '05'",
        "math.floor(i / 4) * 4 == i and terms",
    ],
)
def test_it_may_be_true_again(test: str) -> None:
    assert found(test) == []


def test_what_is_compared_with_a_count_that_moves_on() -> None:
    assert found("i - start < 1", "start = i + 1 if i % 4 == 3 else start") == []


@pytest.mark.parametrize(
    ("test", "before"),
    [
        ("marks[i]", "marks = [1, 0, 0, 0] * 10"),
        ("marks[i] > 0.5 and terms", "marks = [1, 0, 0, 0] * 10"),
        ("start == int(start)", "start = 0.25 * i"),
    ],
)
def test_what_is_known_of_a_table_may_come_again(test: str, before: str) -> None:
    assert found(test, before) == []


@pytest.mark.parametrize("test", ["i == 0", "not i", "i < 1", "i == 0 and terms"])
def test_what_is_true_in_the_first_pass_only(test: str) -> None:
    assert "AD302" in found(test)


def test_what_is_never_trained_is_told() -> None:
    assert found("i / 4 == i // 4", training="state.sum().backward()", kept="terms") == ["AD102"]
