"""What a sum of losses goes to says whether numbers may be summed in the place of tensors: what trains computes on."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

HEAD = """\
import functools
import random
import statistics

import numpy
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
batches = [torch.randn(8, 4) for _ in range(4)]


def decay():
    with torch.no_grad():
        for weight in net.parameters():
            weight.mul_(0.9)


totals = {}
for epoch in range(4):
    total = 0.0
    for x in batches:
        loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
"""
STEERING = (
    "random.seed(float(total)); random.shuffle(batches)",
    "random.seed(str(float(total))); random.shuffle(batches)",
    "random.seed('%.7f' % total); random.shuffle(batches)",
    "random.seed('{:.7f}'.format(total)); random.shuffle(batches)",
    "random.Random(int(total * 1e7)).shuffle(batches)",
    "torch.Generator().manual_seed(int(total * 1e7))",
    "torch.cuda.manual_seed_all(int(total * 1e7))",
    "numpy.random.seed(int(total * 1e7))",
    "numpy.random.default_rng(int(total * 1e7)).shuffle(batches)",
    "batches = [batches[i] for i in numpy.random.default_rng(hash(float(total))).permutation(4)]",
)
SHOWN = (
    "print(f'{total / len(batches):.4f}', str(float(total)), '%.3f' % total, '{:.2f}'.format(total))",
    "text = f'{total:.3f}'; print('weights_' + text + '.pt', round(float(text), 2))",
    "totals[f'{total:.2f}'] = epoch; print(list(totals), hash(float(total)))",
)


def repair(lines: str) -> str | None:
    source = Source.from_bytes((HEAD + "".join(f"    {line}\n" for line in lines.splitlines())).encode(), "program.py")
    found = [f for f in check(source, CheckOptions(fixes=True)).findings if f.code == "AD101"]
    fixes = [f.fix for f in found if f.fix is not None]
    return fixes[0].edits[0].replacement if len(found) == 1 and fixes else None


@pytest.mark.parametrize("lines", STEERING)
def test_what_trains_is_made_of_tensors(lines: str) -> None:
    assert repair(lines) == ".detach()"


@pytest.mark.parametrize("lines", SHOWN)
def test_what_is_shown_is_made_of_numbers(lines: str) -> None:
    assert repair(lines) == ".item()"
