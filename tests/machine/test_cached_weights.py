"""Weights that `parametrize.cached()` keeps, where what computes them is not in view."""

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

TRAINING = """\
import torch
from library import Net, Positive
from torch import nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import weight_norm

net = {net}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for batches in torch.randn(3, 2, 2, 4):
    optimizer.zero_grad()
    {context}
        for x in batches:
            loss = net(x).pow(2).mean()
            loss.backward({how})
    optimizer.step()
"""
OF_LIBRARY = "weight_norm(nn.Linear(4, 4))"
UNSEEN = "parametrize.register_parametrization(nn.Linear(4, 4), 'weight', Positive())"
CACHED = "with parametrize.cached():"


@pytest.mark.parametrize(
    ("net", "context", "how", "codes"),
    [
        (OF_LIBRARY, CACHED, "retain_graph=True", []),
        (OF_LIBRARY, CACHED, "", ["AD201"]),
        (OF_LIBRARY, "if True:", "retain_graph=True", ["AD103"]),
        (UNSEEN, CACHED, "retain_graph=True", []),
        (UNSEEN, CACHED, "", []),
        (UNSEEN, "if True:", "retain_graph=True", ["AD103"]),
        ("Net()", CACHED, "retain_graph=True", []),
        ("nn.Linear(4, 4)", CACHED, "retain_graph=True", ["AD103"]),
        (f"parametrize.remove_parametrizations({OF_LIBRARY}, 'weight')", CACHED, "retain_graph=True", ["AD103"]),
    ],
)
def test_all_calls_share_a_cached_weight(net: str, context: str, how: str, codes: list[str]) -> None:
    text = TRAINING.format(net=net, context=context, how=how)
    assert [f.code for f in check(Source.from_text(text, "train.py"), CheckOptions()).findings] == codes
