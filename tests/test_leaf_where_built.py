"""What a derivative is taken by becomes a leaf where it is built; who asks for gradient of leaves may see that."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

PROGRAM = """
import torch
import torch.nn as nn
net = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
raw = torch.rand(5, 1, requires_grad=True)
t = 3 * raw ** 2
for epoch in range(4):
    optimizer.zero_grad()
    u = net(t)
    (slope,) = torch.autograd.grad(u.sum(), t, create_graph=True)
    loss = (slope - u).pow(2).mean()
    {}
    loss.backward()
    optimizer.step()
"""
LEAF = "make `3 * raw ** 2` a leaf: nothing in its graph is trained"


def _told(more: str) -> tuple[str, Applicability | None]:
    found = check(Source.from_text(PROGRAM.format(more), "program.py"), CheckOptions(fixes=True)).findings
    assert [finding.code for finding in found] == ["AD301"]
    fix = found[0].fix
    return (fix.message, fix.applicability) if fix is not None else ("", None)


def test_nothing_else_of_the_leaf_is_used() -> None:
    assert _told("print(loss.item())") == (LEAF, Applicability.SAFE)


def test_gradient_of_a_leaf_is_asked_for() -> None:
    assert _told("print(t.grad)") == (LEAF, Applicability.UNSAFE)


@pytest.mark.parametrize("more", ["print(t.grad)", "print(t.is_leaf)", "print(getattr(t, 'grad', None))"])
def test_a_leaf_is_told_from_what_is_computed(more: str) -> None:
    assert _told(more)[1] is not Applicability.SAFE


CLIPPED = (
    "nn.utils.clip_grad_norm_([*net.parameters(), t], 1.0)",
    "nn.utils.clip_grad_norm_(max_norm=1.0, parameters=[t])",
    "from torch.nn.utils import clip_grad_norm_ as clip; clip((t,), 1.0)",
    "both = list(net.parameters()); both.append(t); nn.utils.clip_grad_norm_(both, 1.0)",
)
APART = (
    "w = net[0].weight; torch.autograd.grad(net(t).sum(), w); nn.utils.clip_grad_norm_([w], 1.0)",
    "nn.utils.clip_grad_norm_(net.parameters(), 1.0)",
    "trained = [p for p in net.parameters()]; nn.utils.clip_grad_norm_(trained, 1.0)",
)


@pytest.mark.parametrize("more", CLIPPED)
def test_its_gradient_would_be_clipped_with_others(more: str) -> None:
    assert _told(more) == (LEAF, Applicability.UNSAFE)


@pytest.mark.parametrize("more", APART)
def test_others_are_clipped(more: str) -> None:
    assert _told(more) == (LEAF, Applicability.SAFE)


def test_the_leaf_itself_is_derived_by() -> None:
    more = "loss = loss + torch.autograd.grad(net(t).sum(), raw, create_graph=True)[0].mean()"
    found = check(Source.from_text(PROGRAM.format(more), "program.py"), CheckOptions(fixes=True)).findings
    assert found
    assert all(finding.fix is None or finding.fix.message != LEAF for finding in found)
