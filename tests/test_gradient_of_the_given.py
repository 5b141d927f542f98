"""What a caller gives may have a graph although it has a gradient: `retain_grad()` keeps that of no leaf, too."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """\
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def slope(self, features, grad):
        features.requires_grad = True
        self.layer(features).backward(grad, retain_graph=True)
        {ending}
"""


@pytest.mark.parametrize(
    ("ending", "is_safe"),
    [
        ("return features.grad", False),
        ("print(features.grad.norm())", False),
        ("slope, features.grad = features.grad, None; return slope", True),
    ],
)
def test_the_flag_may_serve_the_graph_of_the_caller_unless_the_gradient_is_emptied(ending: str, is_safe: bool) -> None:
    result = check(Source.from_text(PROGRAM.format(ending=ending), "program.py"), CheckOptions())
    assert [(f.code, f.fix is not None and f.fix.why_unsafe is None) for f in result.findings] == [("AD103", is_safe)]
