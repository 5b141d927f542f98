"""A method out of view may detach what it is given: that what it returns has history is told as assumed."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

CRITIC = """\
import torch
from torch import nn


class Critic:
    def __init__(self):
        self.net = nn.Linear(3, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def learn(self, episodes):
        values = self.net(episodes.states).squeeze(-1)
        gains = {gains} - torch.mean(episodes.baselines)
        spread = (gains ** 2).mean().sqrt()
        gains.div_(spread + 1.0)
        loss = gains.mean(){beside}
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
"""
BESIDE = " + (values - 1.0).pow(2).mean()"
UNKNOWN = "episodes.compared(values)"


@pytest.mark.parametrize(
    ("gains", "beside", "is_assumed"),
    [
        (UNKNOWN, BESIDE, True),
        (f"({UNKNOWN} - values)", BESIDE, False),
        ("(1.0 - values)", BESIDE, False),
        ("self.net(episodes.compared(episodes.states))", BESIDE, False),
    ],
)
def test_history_that_is_assumed(gains: str, beside: str, is_assumed: bool) -> None:
    program = CRITIC.format(gains=gains, beside=beside)
    (finding,) = check(Source.from_text(program, "critic.py"), CheckOptions()).findings
    assert (finding.code, bool(finding.assumptions)) == ("AD202", is_assumed)
    assert finding.fix is not None
    assert (finding.fix.applicability is Applicability.UNSAFE) is is_assumed
