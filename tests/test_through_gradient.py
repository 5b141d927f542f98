"""A gradient that was taken without a graph: it is retained safely only where it enters no later loss of the pass."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

TRAINING = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    x = torch.rand(5, 2, requires_grad=True)
    out = net(x)
    {taken}
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
TWO = """one = torch.autograd.grad(out[:, 0].sum(), x)[0]
    two = torch.autograd.grad(out[:, 1].sum(), x)[0]"""
OWN = "own = torch.autograd.grad(out.pow(2).sum(), list(net.parameters()))"


@pytest.mark.parametrize(
    ("taken", "loss", "is_safe"),
    [
        (TWO, "out.pow(2).mean()", True),
        (TWO, "out.pow(2).mean() + one.norm().item()", True),
        (TWO, "out.pow(2).mean() + two.pow(2).mean()", False),
        (TWO, "nn.MSELoss()(one, two) + out.pow(2).mean()", False),
        (OWN, "out.pow(2).mean() / own[0].norm()", True),
        (OWN, "out.pow(2).mean() + sum(g.pow(2).sum() for g in own)", False),
        ("out.sum().backward()", "out.pow(2).mean()", True),
        ("out.sum().backward()", "out.pow(2).mean() + x.grad.abs().mean()", False),
    ],
)
def test_the_graph_is_retained_safely_where_no_loss_has_the_gradient(taken: str, loss: str, is_safe: bool) -> None:
    source = Source.from_bytes(TRAINING.format(taken=taken, loss=loss).encode(), "train.py")
    findings = check(source, CheckOptions()).findings
    fixes = [f.fix for f in findings if f.fix is not None]
    assert fixes and len(fixes) == len(findings)
    assert {fix.applicability is Applicability.SAFE for fix in fixes} == {is_safe}
    assert all(any("create_graph" in str(edit) for edit in fix.edits) != is_safe for fix in fixes)
