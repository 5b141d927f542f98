"""Containers that are cleared when they are full, which the few passes of a run may not come to."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

LOOP = """\
from heapq import heappush, heappushpop
import torch
from torch import nn

net = nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
kept = {begin}
for step in range(500):
    loss = net(torch.randn(3, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {store}
    {full}
print(len(kept))
"""


@pytest.mark.parametrize(
    ("begin", "store", "full", "told"),
    [
        ("[]", "kept.append(loss)", "kept.clear() if len(kept) == 9 else None", False),
        ("[]", "kept.append(loss)", "len(kept) > 9 and kept.clear()", False),
        ("set()", "kept.add(loss)", "kept.clear() if len(kept) == 9 else None", False),
        ("[]", "(heappush if len(kept) < 3 else heappushpop)(kept, (step, loss))", "pass", False),
        ("[]", "heappush(kept, (step, loss))", "pass", True),
        ("[]", "kept.append(loss)", "print(len(kept)) if len(kept) == 9 else None", True),
        ("set()", "kept.add(loss)", "pass", True),
    ],
)
def test_what_is_cleared_when_it_is_full_does_not_grow(begin: str, store: str, full: str, told: bool) -> None:
    text = LOOP.format(begin=begin, store=store, full=full)
    found = check(Source.from_text(text, "a.py"), CheckOptions(fixes=False)).findings
    assert [finding.code for finding in found] == (["AD102"] if told else [])
