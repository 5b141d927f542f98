"""What a differentiation tells of values that nobody knows: where the way to what it asks for leads."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.exploring import analyse

PROGRAM = """\
import library
import torch

old = library.old(torch.ones(3))
ratio = torch.ones(3) / old
{}
"""


@pytest.mark.parametrize(
    ("differentiation", "is_known"),
    [
        ("ratio.mean().backward()", True),
        ("torch.autograd.grad(ratio.mean(), old)", True),
        ("torch.autograd.grad(ratio.mean(), library.points())", False),
    ],
)
def test_a_value_has_history_for_certain_if_it_leads_to_what_is_asked_for(differentiation: str, is_known: bool) -> None:
    run = analyse(ast.parse(PROGRAM.format(differentiation))).runs[0]
    (ratio,) = (node for node in run.machine.nodes if node.op == "div")
    assert ratio.weak is not is_known
