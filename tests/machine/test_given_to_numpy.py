"""What numpy is given is kept for nothing only where nobody wants to differentiate what numpy makes of it."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

EPISODES = """\
import random
import numpy as np
import torch
from torch.distributions import Categorical

policy = torch.nn.Linear(4, 2)
optimizer = torch.optim.Adam(policy.parameters())
for episode in range(30):
    gains, scores = [], []
    score = 0
    for step in range(200):
        choice = Categorical(logits=policy(torch.randn(4)))
        score += choice.log_prob(choice.sample())
        if random.random() < 0.1:
            scores.append(score)
            gains.append(random.random())
            score = 0
    {use}
"""
STEP = "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
WANTED = (
    "loss = -np.sum(np.array(gains) * np.array(scores)) / 3",
    "loss = -(np.asarray(gains) * np.asarray(scores)).mean()",
    "loss = -np.mean(scores)",
)


def _codes(use: str) -> list[str]:
    program = EPISODES.replace("    {use}\n", f"    {use}\n")
    return [finding.code for finding in check(Source.from_text(program, "program.py"), CheckOptions()).findings]


@pytest.mark.parametrize("use", WANTED)
def test_what_is_differentiated_is_not_cut_off(use: str) -> None:
    assert _codes(f"{use}\n{STEP}") == []


def test_what_is_only_shown_is_kept_for_nothing() -> None:
    assert "AD102" in _codes("print(np.mean(scores))")
