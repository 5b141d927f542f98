"""Layers of a network that is not in view, in a `Sequential`: they have weights, unless that network is frozen."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """\
import torch
import torch.nn.functional as F
from torch import nn
from elsewhere import load

pretrained = load()
{before}
layers = []
for i in range(26):
    layers.append(pretrained.features[i])
net = nn.Sequential(*layers)
{behind}


def features(x, wanted):
    found = []
    for i in range(len(net)):
        x = net[i](x)
        if i in wanted:
            found.append(x)
    return found


target = features(torch.randn(1, 3, 6, 6), [5, 25])
image = torch.randn(1, 3, 6, 6, requires_grad=True)
optimizer = torch.optim.Adam([image], lr=0.1)
for step in range(500):
    loss = sum(F.mse_loss(a, b) for a, b in zip(features(image, [5, 25]), target))
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
"""

ONE_BY_ONE = "for p in {}.parameters():\n    p.requires_grad = False"


@pytest.mark.parametrize(
    ("before", "behind", "codes"),
    [
        pytest.param("", "", ["AD301"], id="trained"),
        pytest.param("pretrained.eval()", "net = net.to('cuda')", ["AD301"], id="only moved"),
        pytest.param("pretrained.requires_grad_(False)", "", ["AD103"], id="frozen"),
        pytest.param("", "pretrained.requires_grad_(False)", ["AD103"], id="frozen behind it"),
        pytest.param("", "pretrained.features.requires_grad_(False)", ["AD103"], id="a part of it"),
        pytest.param("", ONE_BY_ONE.format("pretrained.features"), ["AD103"], id="of it"),
        pytest.param("pretrained.features.requires_grad_(False)", "", ["AD103"], id="a part of it before"),
        pytest.param("", "net.requires_grad_(False)", ["AD103"], id="frozen as a whole"),
        pytest.param(ONE_BY_ONE.format("pretrained"), "", ["AD103"], id="one by one"),
        pytest.param("", ONE_BY_ONE.format("pretrained"), ["AD103"], id="so behind it"),
        pytest.param("", "for n in net:\n    n.requires_grad_(False)", ["AD103"], id="layer by layer"),
    ],
)
def test_what_they_make_has_a_graph_unless_they_are_frozen(before: str, behind: str, codes: list[str]) -> None:
    source = Source.from_bytes(PROGRAM.format(before=before, behind=behind).encode(), "train.py")
    assert [finding.code for finding in check(source, CheckOptions()).findings] == codes
