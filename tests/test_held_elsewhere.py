"""A changed tensor becomes a new one safely only where nothing else can hold what it was, however that is spelled."""

from __future__ import annotations

import pytest

from autodetach.checker import CheckOptions, check
from autodetach.finding import Applicability
from autodetach.source import Source

TRAINING = """\
import functools
import types

import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F


class Holder:
    def __init__(self, rows):
        self.rows = rows


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 2)

    def forward(self, x):
        self.seen = x
        return self.lin(x)


def total(rows):
    return rows.sum()


trunk, plain, keeping = nn.Linear(3, 4), nn.Linear(4, 2), Head()
optimizer = torch.optim.SGD(trunk.parameters(), lr=0.1)
for _ in range(3):
    rows = trunk(torch.randn(5, 3))
    energy = (rows * rows).mean()
    {use}
    rows.mul_(0.5)
    loss = plain(rows).pow(2).mean() + energy
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NOT_HOLDING = [
    "pass",
    "print(rows.mean(), rows.shape)",
    "seen = plain(rows)",
    "seen = F.relu(rows)",
    "seen = torch.stack([rows, rows])",
    "seen = total(rows)",
    "seen = lambda: rows.sum()",
    "assert rows.isfinite().all()",
]
HOLDING = [
    "seen = dict(rows=rows)",
    "seen = torch.flatten(rows)",
    "seen = F.normalize(rows).T, rows.T",
    "seen = types.SimpleNamespace(rows=rows)",
    "seen = Holder(rows)",
    "seen = functools.partial(total, rows)",
    "seen = lambda rows=rows: rows.sum()",
    "seen = rows.view_as(rows)",
    "seen = rows.squeeze()",
    "seen = rows.sum",
    "seen = keeping(rows)",
    "seen = max(rows, rows, key=torch.sum)",
    "seen = rearrange(rows, 'a b -> b a')",
    "first, *others = rows.split(1)",
    "rows.retain_grad()",
]


@pytest.mark.parametrize(("use", "is_safe"), [*((u, True) for u in NOT_HOLDING), *((u, False) for u in HOLDING)])
def test_what_may_hold_the_tensor_makes_it_unsafe(use: str, is_safe: bool) -> None:
    found = check(Source.from_bytes(TRAINING.format(use=use).encode(), "train.py"), CheckOptions(alternatives=False))
    (finding,) = (f for f in found.findings if f.code == "AD202")
    assert finding.fix is not None and "compute a new tensor" in finding.fix.message
    assert (finding.fix.applicability is Applicability.SAFE) == is_safe
