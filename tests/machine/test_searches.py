"""What a program looks for it finds, where it would raise if it did not."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.exploring import analyse

PROGRAM = """
import torch

def layer_of(name, layers):
    for layer in layers:
        if layer.__name__.lower() == name:
            return layer()
    {behind}

net = torch.nn.Linear(3, 1)
act = layer_of("relu", [cls for cls in vars(torch.nn.modules.activation).values() if isinstance(cls, type)])
loss = act(net(torch.randn(4, 3))).sum()
loss.backward()
"""


@pytest.mark.parametrize(
    ("behind", "found"),
    [
        ("raise ValueError(name)", True),
        ("shown = repr(name)\n    raise ValueError(shown)", True),
        ("else:\n        raise ValueError(name)", True),
        ("return torch.nn.Identity()", False),
        ("if name:\n        pass\n    raise ValueError(name)", False),
    ],
)
def test_the_usual_path_finds_what_it_must(behind: str, found: bool) -> None:
    first = analyse(ast.parse(PROGRAM.format(behind=behind))).runs[0].machine
    (decision,) = (d for d in first.oracle.decisions.values() if "==" in d.text)
    assert decision.outcomes == {found}
    assert bool(first.differentiations) is ("return" in behind or found)
