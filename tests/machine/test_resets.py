"""A function out of view that is given the network, and says that it resets, has begun its states anew."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """
import torch
from spiking import base, functional


class LIF({base}):
    def __init__(self):
        super().__init__()
        {begin}

    def forward(self, x):
        if isinstance(self.v, float):
            self.v = torch.full_like(x, self.v)
        self.v = 0.5 * self.v + x
        return self.v


net = torch.nn.Sequential(torch.nn.Linear(3, 2), LIF())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(10):
    {call}
    loss = net(torch.rand(4, 3)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("base", "begin"), [("base.MemoryModule", 'self.register_memory("v", 0.0)'), ("torch.nn.Module", "self.v = 0.0")]
)
@pytest.mark.parametrize(
    ("call", "codes"),
    [
        ("functional.reset_net(net)", []),
        ("functional.detach_net(net)", []),
        ("functional.set_step_mode(net, 'm')", ["AD302"]),
        ("functional.reset_net(step)", ["AD302"]),
        ("pass", ["AD302"]),
    ],
)
def test_states_are_told_where_nothing_may_have_reset_them(base: str, begin: str, call: str, codes: list[str]) -> None:
    text = PROGRAM.format(base=base, begin=begin, call=call)
    assert [finding.code for finding in check(Source.from_text(text, "snn.py"), CheckOptions()).findings] == codes
