"""How many passes stand for all of a loop: fewer where a third one shows nothing that the second did not."""

from __future__ import annotations

import ast
import textwrap

import pytest

from autodetach.machine.oracle import Policy
from autodetach.machine.running import FUEL_PER_RUN, run_once

PROGRAM = """
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)

def rounds(loader, epochs):
    total = 0.0
    for epoch in range(epochs):
        seen, average, kept = 0, None, {{}}
        for step, x in enumerate(loader):
{}

rounds(load(), 100)
"""
TRAINING = """
loss = net(x).mean()
opt.zero_grad()
loss.backward()
opt.step()
"""
WITHOUT = """
with torch.no_grad():
    for row in x:
        {}
"""


def _passes(body: str) -> list[list[int]]:
    """Of the loops over batches, and of those inside, how many passes each run of them has."""
    program = PROGRAM.format(textwrap.indent(textwrap.dedent(body).strip(), " " * 12))
    machine = run_once(ast.parse(program), Policy(), FUEL_PER_RUN).machine
    found: dict[int, list[int]] = {}
    for activation in machine.activations:
        if isinstance(activation.node, ast.For):
            found.setdefault(activation.node.lineno, []).append(activation.passes)
    (epochs, *inner) = found.values()
    assert epochs == [3]
    return inner


@pytest.mark.parametrize(
    "more",
    [
        "",
        "total += loss.item()",
        "total = total + loss",
        "average = 0.9 * (average or 0.0) + 0.1 * loss.item()",
        "if step % 10 == 0:\n    print(loss)",
        "if epoch > 5:\n    break",
    ],
)
def test_a_loop_that_trained_trains_again(more: str) -> None:
    assert _passes(TRAINING + more) == [[3, 2, 1]]


def test_passes_that_differ_are_all_seen_in_the_next_round() -> None:
    average = "average = loss if average is None else 0.9 * average + 0.1 * loss"
    assert _passes(TRAINING + f"seen += 1\n{average}") == [[3, 2, 1]]
    state = "average = 'late' if average == 'begun' else 'begun'"
    assert _passes(TRAINING + f"seen += 1\nif seen > 1:\n    {state}") == [[3, 3, 3]]


@pytest.mark.parametrize(("third", "passes"), [("plain", [3, 2, 1]), ("other", [3, 2, 2])])
def test_what_calls_something_else_does_something_else(third: str, passes: list[int]) -> None:
    program = f"""
import torch

net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)

def plain(x):
    return net(x).mean()

def other(x):
    return net(x + 1).mean()

for loss_of in (plain, plain, {third}):
    for x in load():
        loss = loss_of(x)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
    machine = run_once(ast.parse(program), Policy(), FUEL_PER_RUN).machine
    assert [a.passes for a in machine.activations if isinstance(a.node, ast.For)][1:] == passes


@pytest.mark.parametrize(
    ("kept", "average"),
    [
        ("average", "loss if average is None else 0.9 * average + 0.1 * loss"),
        ("kept[0]", "loss if 0 not in kept else 0.9 * kept[0] + 0.1 * loss"),
    ],
)
def test_what_the_third_pass_finds_first_is_seen_in_a_fourth(kept: str, average: str) -> None:
    assert _passes(TRAINING + f"seen += 1\nif seen > 1:\n    {kept} = {average}") == [[4, 2, 1]]


def test_what_trains_nothing_may_do_something_else_in_an_outer_pass() -> None:
    assert _passes("total = total + net(x).mean()") == [[3, 3, 3]]


def test_two_passes_without_history() -> None:
    batches, rows = _passes(TRAINING + WITHOUT.format("total += net(row).item()"))
    assert batches == [3, 2, 1]
    assert set(rows) == {2}  # with one, what is counted would be known behind it


def test_history_where_no_gradient_is_recorded() -> None:
    inner = "with torch.enable_grad():\n            total = total + net(row).mean()"
    _, rows = _passes(TRAINING + WITHOUT.format(inner))
    assert set(rows) == {3}
