"""AD404: what hands out views is asked for nothing that only a tensor has."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """
import torch
from torch import nn

reader = nn.GRU(2, 3, num_layers=2)
optimizer = torch.optim.SGD(reader.parameters(), lr=0.1)
state = torch.zeros(2, 1, 3)
for step in range(9):
    output, state = reader(torch.randn(4, 1, 2), state)
    loss = output.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for layer, row in ROWS:
        row.detach_()
"""


@pytest.mark.parametrize("rows", ["enumerate(state)", "zip(range(2), state)"])
def test_rows_at_hand_are_not_copied_as_a_whole(rows: str) -> None:
    result = check(Source.from_text(PROGRAM.replace("ROWS", rows), "program.py"), CheckOptions(alternatives=True))
    told = [finding for finding in result.findings if finding.code == "AD404"]
    assert told
    assert all(f"{rows}.clone()" not in text for f in told if f.fix is not None for *_, text in f.fix.edits)
