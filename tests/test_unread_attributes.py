"""AD102 of a library: what a public attribute keeps is told unless others may differentiate it."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

HEAD = """
import torch
from torch import nn

class Runner:
    def __init__(self, model, loader):
        self.model, self.loader = model, loader
        self.kept = []
"""
LOOP = """
    def run(self):
        self.model.eval()
        for x, y in self.loader:
            loss = nn.functional.mse_loss(self.model(x), y)
            print(loss.item())
            self.kept.append(loss)
"""
CALLED_IN_LOOP = """
    def run(self):
        self.model.eval()
        for x, y in self.loader:
            self.one(x, y)

    def one(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        print(loss.item())
        self.kept.append(loss)
"""
CALLED_BY_OTHERS = """
    def act(self, x):
        pi = torch.distributions.Categorical(logits=self.model(x))
        action = pi.sample()
        self.kept.append(pi.log_prob(action))
        return action
"""


@pytest.mark.parametrize(("method", "codes"), [(LOOP, ["AD102"]), (CALLED_IN_LOOP, ["AD102"]), (CALLED_BY_OTHERS, [])])
def test_what_an_own_loop_keeps_is_told(method: str, codes: list[str]) -> None:
    source = Source.from_bytes((HEAD + method).encode(), "runner.py")
    assert [finding.code for finding in check(source, CheckOptions()).findings] == codes
