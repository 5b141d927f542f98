"""Right code of which nobody in view says what it is given: nothing is told of it."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

SURGERY = """\
import copy

import torch


class Surgery:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def flat_gradient(self, loss):
        self.optimizer.zero_grad()
        loss.backward(retain_graph=True)
        params = [p for group in self.optimizer.param_groups for p in group["params"]]
        return torch.cat([p.grad.flatten() for p in params])

    def flat_weights(self):
        params = [p for group in self.optimizer.param_groups for p in group["params"]]
        return torch.cat([p.data.flatten() for p in params])

    def halved(self, loss):
        flat = copy.deepcopy(self.flat_gradient(loss))
        flat.mul_(0.5)
        weights = copy.deepcopy(self.flat_weights())
        weights.add_(flat)
        return flat

    def projected(self, losses):
        grads = [self.flat_gradient(loss) for loss in losses]
        projected = copy.deepcopy(grads)
        for one in projected:
            for other in grads:
                one -= torch.dot(one, other) * other
        return projected
"""
READER = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.source = nn.Linear(8, 4)
        self.source_head = nn.Linear(4, 1)
        self.target = nn.Linear(8, 4)
        self.target_head = nn.Linear(4, 1)

    def forward(self, user, item):
        source, target = self.source(user), self.target(item)
        return self.source_head(source), self.target_head(target), F.mse_loss(source, target.detach())


def train(reader):
    model = Pair()
    source = torch.optim.Adam(model.source.parameters())
    heads = torch.optim.Adam([*model.source_head.parameters(), *model.target_head.parameters()])
    for user, item, y in reader:
        model.zero_grad()
        of_source, of_target, distance = model(user, item)
        F.mse_loss(of_target, y).backward()
        distance.backward(retain_graph=True)
        source.step()
        F.mse_loss(of_source, y).backward()
        heads.step()


def main(options):
    from data import load_data

    reader, options = load_data(options)
    train(reader)
"""


@pytest.mark.parametrize("program", [SURGERY, READER], ids=["copies of gradients", "batches of a reader"])
def test_nothing_is_told(program: str) -> None:
    assert check(Source.from_text(program, "train.py"), CheckOptions()).findings == ()
