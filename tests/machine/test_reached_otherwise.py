"""What grows, and what an exception, an attribute hook, or a closure brings to who differentiates it."""

from __future__ import annotations

import sys

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

HEAD = """\
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


"""
STEPS = """\
def steps(length):
    total = 0
    for _ in range(length):
        loss = model(torch.randn(8, 4)).pow(2).mean()
        total = total + loss
        yield loss.item()
    {end}


"""
CAUGHT = """\
for _ in range(3):
    running = steps(4)
    try:
        while True:
            next(running)
    except StopIteration as stop:
        {use}
"""
DELEGATED = """\
def outer():
    {use}
    yield 0


for _ in range(3):
    for value in outer():
        print(value)
"""
CHECKED = """\
total = 0
for step in range(8):
    total = total + model(torch.randn(8, 4)).pow(2).mean()
    try:
        if step > 1000:
            raise ValueError({given})
    except ValueError as error:
        {use}
print(total.item())
"""
GROUPED = """\
total = 0
for step in range(8):
    total = total + model(torch.randn(8, 4)).pow(2).mean()
    try:
        if step % 4 == 3:
            raise ExceptionGroup("several", [ValueError(total)])
    except* ValueError as group:
        group.exceptions[0].args[0].backward()
        optimizer.step()
        total = 0
"""


def codes(text: str) -> list[str]:
    return [finding.code for finding in check(Source.from_text(HEAD + text, "reached.py"), CheckOptions()).findings]


@pytest.mark.parametrize(
    ("end", "use", "is_told"),
    [
        ("return total", "stop.value.backward()", False),
        ("return total / length", "stop.args[0].backward()", False),
        ("return total", "train(stop)", False),
        ("return total", "print(stop.value)", True),
        ("print(total.item())", "stop.value.backward()", True),
    ],
)
def test_a_generator_returns_what_its_end_brings(end: str, use: str, is_told: bool) -> None:
    assert codes(STEPS.format(end=end) + CAUGHT.format(use=use)) == ["AD101"] * is_told


@pytest.mark.parametrize("use", ["total = yield from steps(4)\n    total.backward()", "train((yield from steps(4)))"])
def test_a_generator_returns_to_what_delegates(use: str) -> None:
    assert codes(STEPS.format(end="return total") + DELEGATED.format(use=use)) == []


@pytest.mark.parametrize(
    ("given", "use", "is_told"),
    [
        ("total", "error.args[0].backward()", False),
        ("'bad', total", "train(error)", False),
        ("f'bad: {total}'", "train(error)", True),
        ("total", "print(error)", True),
    ],
)
def test_an_exception_brings_what_it_is_given(given: str, use: str, is_told: bool) -> None:
    assert codes(CHECKED.format(given=given, use=use)) == ["AD101"] * is_told


@pytest.mark.skipif(sys.version_info < (3, 11), reason="older versions have no groups of exceptions")
def test_a_group_brings_what_its_exceptions_are_given() -> None:
    assert codes(GROUPED) == []
