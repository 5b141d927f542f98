"""The stories that findings tell: each step has to be true of the program that it is told of."""

from __future__ import annotations

import pytest

from autodetach.checker import CheckOptions, check
from autodetach.source import Source

PROGRAM = """\
from collections import deque
import torch
from torch import nn

net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
losses = {losses}
for step in range(1000):
    loss = net(torch.randn(4, 2)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)
"""


@pytest.mark.parametrize(
    ("losses", "until"),
    [
        ("[]", "for as long as this loop runs"),
        ("deque()", "for as long as this loop runs"),
        ("deque(maxlen=100)", "until the deque is full"),
        ("deque([], int(input()))", "until the deque is full"),
    ],
)
def test_how_long_memory_grows(losses: str, until: str) -> None:
    [finding] = check(Source.from_bytes(PROGRAM.format(losses=losses).encode(), "train.py"), CheckOptions()).findings
    assert finding.story[-1].line == 8
    assert finding.story[-1].text.endswith(f"memory grows {until}")
