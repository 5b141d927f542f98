"""What a function gathers for what it returns: a cut is safe only where all that its callers do with that is seen."""

from __future__ import annotations

import pytest

from autodetach.candidates.called_out_of_view import DEMONSTRATED, NAMED, RETURNED
from autodetach.checker import CheckOptions, check
from autodetach.source import Source

PROGRAM = """\
import torch
from torch import nn


def divergence(field, points, probes=4):
    terms = []
    for _ in range(probes):
        probe = torch.randn_like(points)
        (along,) = torch.autograd.grad(field, points, probe, retain_graph=True, create_graph=True)
        terms.append((along * probe).sum(dim=1))
    return torch.stack(terms).mean(dim=0)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)

    {method}


if {test}:
    points = torch.randn(1, 3, requires_grad=True)
    print(divergence(points @ torch.eye(3), points, probes=256).item())
"""
RETURNING = """def forward(self, points):
        return divergence(self.net(points), points)"""
THROUGH_LAMBDA = """def forward(self, points):
        estimate = lambda field: divergence(field, points)
        return estimate(self.net(points))"""
GIVING = """def solver(self):
        return elsewhere.Solver(self.net, lambda field, points: divergence(field, points))"""
ONLY_SHOWN = """def forward(self, points):
        return self.net(points)"""
GUARD = '__name__ == "__main__"'


@pytest.mark.parametrize(
    ("method", "test", "doubt"),
    [
        (RETURNING, GUARD, RETURNED),
        (RETURNING, "True", RETURNED),
        (THROUGH_LAMBDA, GUARD, RETURNED),
        (GIVING, GUARD, NAMED),
        (ONLY_SHOWN, GUARD, DEMONSTRATED),
        (ONLY_SHOWN, "True", None),
    ],
)
def test_a_cut_is_safe_only_where_all_callers_are_in_view(method: str, test: str, doubt: str | None) -> None:
    result = check(Source.from_text(PROGRAM.format(method=method, test=test), "program.py"), CheckOptions())
    assert [(f.code, f.fix and f.fix.why_unsafe) for f in result.findings] == [("AD102", doubt)]
