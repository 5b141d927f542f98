"""A changed tensor becomes a new one safely only where nothing else can hold what it was, however that is spelled."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
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


LAYERS = """\
import torch
from torch import nn
from torch.nn import functional as F


class Keep(nn.Module):
    def forward(self, x):
        {keep}
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 4)
        self.clip = nn.ReLU(inplace=True)
        self.chain = nn.Sequential(nn.Linear(3, 4), {inner}, nn.ReLU(inplace=True))

    def forward(self, x):
        h = torch.tanh(self.first(x))
        {forward}


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
{begin}
for _ in range(3):
    loss = net(torch.randn(5, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CHANGED_ALONE = [
    ("nn.Tanh()", "return self.chain(x)", ""),
    ("nn.Tanh()", "y = self.chain(x); return y + x.sum()", ""),
    ("nn.Tanh()", "h = self.clip(h); return self.last(h) + h", ""),
    ("nn.Tanh()", "return self.last(F.relu(h, inplace=True))", ""),
    ("nn.Tanh()", "y = self.clip(torch.sigmoid(h)); return y + h", ""),
]
CHANGED_FOR_OTHERS = [
    ("nn.Tanh()", "return self.chain(x)", "net.chain[1].register_forward_hook(lambda m, i, o: print(o.mean()))"),
    ("nn.Sequential(nn.Tanh(), Keep())", "return self.chain(x)", ""),
    ("nn.Tanh()", "y = self.clip(h); return self.last(y) + h", ""),
    ("nn.Tanh()", "skip = h; h = self.clip(h); return self.last(h) + skip", ""),
    ("nn.Tanh()", "skip = h; h = F.relu(h, inplace=True); return self.last(h) + skip", ""),
    ("nn.Tanh()", "self.seen = h; return self.last(self.clip(h))", ""),
]


@pytest.mark.parametrize(
    ("inner", "forward", "begin", "is_safe"),
    [*((*case, True) for case in CHANGED_ALONE), *((*case, False) for case in CHANGED_FOR_OTHERS)],
)
def test_a_layer_may_work_in_place_for_others(inner: str, forward: str, begin: str, is_safe: bool) -> None:
    keep = "self.kept = x" if "Keep" in inner else "print(x.shape)"
    source = LAYERS.format(keep=keep, inner=inner, forward=forward.replace("; ", "\n        "), begin=begin)
    found = check(Source.from_bytes(source.encode(), "train.py"), CheckOptions(alternatives=False))
    (finding,) = (f for f in found.findings if f.code == "AD202")
    assert finding.fix is not None and "inplace=True" in finding.fix.message
    assert (finding.fix.applicability is Applicability.SAFE) == is_safe
