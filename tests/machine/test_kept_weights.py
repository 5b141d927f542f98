"""Weights that layers keep from their last call, and which code out of view may have renewed since."""

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

TRAINING = """\
import torch
from library import measure
from torch import nn

layer = nn.utils.{norm}(nn.Linear(4, 4))
holder = {{"layer": nn.Sequential(layer)}}
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for x in torch.randn(3, 2, 4):
    optimizer.zero_grad()
    loss = layer(x).pow(2).mean()
    loss.backward({how})
    {between}
    penalty = layer.weight.abs().sum()
    penalty.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("norm", ["spectral_norm", "weight_norm"])
@pytest.mark.parametrize(
    ("between", "codes"),
    [
        ("pass", ["AD201"]),
        ("measure(x)", ["AD201"]),
        ("layer.forward(x)", ["AD201"]),
        ("layer(x)", []),
        ("measure(layer)", []),
        ("measure(holder)", []),
    ],
)
def test_a_penalty_walks_the_weight_of_the_last_call(norm: str, between: str, codes: list[str]) -> None:
    text = TRAINING.format(norm=norm, how="", between=between)
    assert [f.code for f in check(Source.from_text(text, "train.py"), CheckOptions()).findings] == codes


@pytest.mark.parametrize("between", ["pass", "measure(layer)", "measure(holder)"])
def test_a_graph_is_kept_for_a_weight_that_may_not_be_renewed(between: str) -> None:
    text = TRAINING.format(norm="weight_norm", how="retain_graph=True", between=between)
    assert check(Source.from_text(text, "train.py"), CheckOptions()).findings == ()


def test_a_layer_without_norm_keeps_its_parameter() -> None:
    text = TRAINING.format(norm="weight_norm", how="", between="nn.utils.remove_weight_norm(layer)")
    text = text.replace("optimizer.zero_grad()", "nn.utils.weight_norm(layer)")
    assert check(Source.from_text(text, "train.py"), CheckOptions()).findings == ()


PRUNED = """\
import torch
from torch import nn
from torch.nn.utils import prune


class Half(prune.BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        mask = default_mask.clone()
        mask.view(-1)[::2] = 0
        return mask


layer = nn.Linear(4, 4)
{prune}
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
for x in torch.randn(3, 2, 4):
    optimizer.zero_grad()
    loss = layer(x).pow(2).mean()
    loss.backward(retain_graph=True)
    penalty = layer.weight.abs().sum()
    penalty.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("way", "codes"),
    [
        ("Half.apply(layer, 'weight')", []),
        ("prune.RandomUnstructured.apply(layer, 'weight', amount=0.5)", []),
        ("prune.identity(module=layer, name='weight')", []),
        ("prune.global_unstructured([(layer, 'weight')], prune.L1Unstructured, amount=0.5)", []),
        ("prune.identity(layer, 'bias')", ["AD103"]),
        ("prune.remove(prune.identity(layer, 'weight'), 'weight')", ["AD103"]),
        ("print(prune.is_pruned(layer))", ["AD103"]),
    ],
)
def test_a_pruned_layer_keeps_its_weight(way: str, codes: list[str]) -> None:
    source = Source.from_text(PRUNED.format(prune=way), "train.py")
    assert [f.code for f in check(source, CheckOptions()).findings] == codes


LEARNER = """\
import torch
from torch import nn


class Learner:
    def __init__(self):
        self.layer = nn.utils.weight_norm(nn.Linear(4, 4))
        self.optimizer = torch.optim.SGD(self.layer.parameters(), lr=0.1)

    def act(self, x):
        return self.layer(x)

    def restrain(self):
        self.optimizer.zero_grad()
        loss = self.layer.weight.abs().sum()
        loss.backward()
        self.optimizer.step()
"""


def test_somebody_out_of_view_may_call_a_layer_between_two_entries() -> None:
    assert check(Source.from_text(LEARNER, "learner.py"), CheckOptions()).findings == ()
