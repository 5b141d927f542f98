"""Repairs that no fixture can show by itself: small programs, and the line that comes out."""

from __future__ import annotations

from autodetach.checker import CheckOptions, fix
from autodetach.source import Source

STATES_OF_A_ROLL_OUT = """\
import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 8)
        self.value = nn.Linear(8, 1)

    def forward(self, x, state):
        hx = None if state is None else (state[0], state[1])
        h, c = self.cell(x, hx)
        return self.value(h), (h, c)


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters())
state, states = None, []
for x in torch.randn(6, 5, 4):
    states.append(state)
    _, state = agent(x, state)
for x, kept in zip(torch.randn(6, 5, 4), states):
    value, _ = agent(x, kept)
    optimizer.zero_grad()
    value.mean().backward()
    optimizer.step()
"""


def test_a_state_that_is_none_at_first_is_detached_if_there_is_one() -> None:
    fixed = fix(Source.from_bytes(STATES_OF_A_ROLL_OUT.encode(), "program.py"), CheckOptions(), unsafe=True)
    assert "self.cell(x, tuple(s.detach() for s in hx) if hx is not None else None)" in fixed.source.text
    assert not fixed.remaining
