"""Each way to write that a container takes a loss in every pass: what it takes is there, and so is what it had."""

from __future__ import annotations

import pytest

from autodetach.checker import CheckOptions, check
from autodetach.source import Source

PROGRAM = """\
import torch
from collections import deque

net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
kept, names, seen, recent = {}, [], set(), deque()
for step in range(1000):
    loss = net(torch.randn(4, 3)).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    STATEMENT
print(len(kept), len(names), len(seen), len(recent))
"""

GATHERING = [
    "kept[step] = loss",
    "kept.__setitem__(step, loss)",
    "kept.setdefault(step, loss)",
    "kept.update({step: loss})",
    "kept.update([(step, loss)])",
    "kept |= {step: loss}",
    "kept = kept | {step: loss}",
    "kept = kept.copy() | {step: loss}",
    "kept = {**kept, step: loss}",
    "names.append(loss)",
    "names.insert(0, loss)",
    "names.extend([loss])",
    "names += [loss]",
    "names[len(names):] = [loss]",
    "names = names + [loss]",
    "names = names.copy() + [loss]",
    "names = list(names) + [loss]",
    "names = [*names, loss]",
    "recent.append(loss)",
    "recent.appendleft(loss)",
    "recent.extend([loss])",
    "recent.extendleft([loss])",
    "seen.add(loss)",
    "seen.update({loss})",
    "seen.update({step}, {loss})",
    "seen |= {loss}",
    "seen = seen | {loss}",
    "seen = seen.union({loss})",
    "names.append(loss); print(len(names + [step]))",
    "names.append(loss); print(len(list(names) + [step]))",
    "seen.add(loss); print(len(seen | {step}))",
]
SILENT = [
    "print(len(names + [loss]))",
    "print(len(seen | {loss}), len(seen.union([loss])))",
    "kept.setdefault('last', loss)",
    "kept.update([('last', loss)])",
    "kept = kept | {'last': loss}",
    "seen = seen - {loss}",
]


def codes(statement: str) -> list[str]:
    text = PROGRAM.replace("STATEMENT", statement)
    return [f.code for f in check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings]


@pytest.mark.parametrize("statement", GATHERING)
def test_what_is_gathered_is_found(statement: str) -> None:
    assert codes(statement) == ["AD102"]


@pytest.mark.parametrize("statement", SILENT)
def test_what_does_not_grow_is_silent(statement: str) -> None:
    assert codes(statement) == []
