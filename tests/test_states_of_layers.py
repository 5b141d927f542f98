"""What layers keep from call to call makes it unsafe to call them in every pass instead of once."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

TRAINING = """\
import torch
from torch import nn
from torch.nn.utils import spectral_norm

body = nn.Sequential({layer}, nn.Tanh())
head = nn.Linear(3, 1)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
x = torch.randn(6, 3)
{begin}
features = body(x)
for _ in range(3):
    loss = head(features).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CASES = [
    ("nn.Linear(3, 3)", "", True),
    ("nn.LayerNorm(3)", "", True),
    ("nn.BatchNorm1d(3)", "", False),
    ("nn.BatchNorm1d(3)", "body.eval()", True),
    ("nn.BatchNorm1d(3, track_running_stats=False)", "", True),
    ("nn.InstanceNorm1d(3, affine=True)", "", True),
    ("nn.InstanceNorm1d(3, affine=True, track_running_stats=True)", "", False),
    ("spectral_norm(nn.Linear(3, 3))", "", False),
    ("nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3))", "", False),
    ("nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))", "", True),
]


@pytest.mark.parametrize(("layer", "begin", "is_safe"), CASES)
def test_a_layer_with_a_state_is_not_moved_safely(layer: str, begin: str, is_safe: bool) -> None:
    source = Source.from_bytes(TRAINING.format(layer=layer, begin=begin).encode(), "train.py")
    (finding,) = (f for f in check(source, CheckOptions(alternatives=False)).findings if f.code == "AD301")
    assert finding.fix is not None and "inside the loop" in finding.fix.message
    assert (finding.fix.applicability is Applicability.SAFE) == is_safe
