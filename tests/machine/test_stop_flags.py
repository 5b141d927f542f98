"""A `while` loop is left by a variable that its test asks for: not in the first pass, as far as nothing is known."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.exploring import analyse

PROGRAM = """
import torch

class Status:
    RUNNING, DONE = object(), object()

net = torch.nn.Linear(3, 1)
{begin}
while {test}:
    loss = net(torch.randn(4, 3)).sum()
    loss.backward()
    if loss < 0.1:
        {end}
    elif loss > 10:
        pass
"""


@pytest.mark.parametrize(
    ("begin", "test", "end", "passes"),
    [
        ("done = False", "not done", "done = True", 3),
        ("going = True", "going", "going = False", 3),
        ("status = Status.RUNNING", "status is Status.RUNNING", "status = Status.DONE", 3),
        ("status = Status.RUNNING", "status is not Status.DONE", "status = Status.DONE", 3),
        ("n, done = 0, False", "n < 10 and not done", "done = True", 3),
        ("n, done = 0, False", "n < 10 or not done", "done = True", 3),
        ("going = True", "going", "going = True", 3),
    ],
)
def test_a_loop_is_not_left_in_its_first_pass(begin: str, test: str, end: str, passes: int) -> None:
    program = PROGRAM.format(begin=begin, test=test, end=end)
    first = analyse(ast.parse(program)).runs[0].machine
    assert len(first.differentiations) == passes


@pytest.mark.parametrize(
    ("test", "end", "left"),
    [("not done", "done = True", False), ("not done", "done = False", True), ("not done", "other = True", True)],
)
def test_only_what_ends_the_loop_is_put_off(test: str, end: str, left: bool) -> None:
    program = PROGRAM.format(begin="done = other = False", test=test, end=end)
    first = analyse(ast.parse(program)).runs[0].machine
    (decision,) = (d for d in first.oracle.decisions.values() if d.text == "loss < 0.1")
    assert decision.outcomes == {left}
