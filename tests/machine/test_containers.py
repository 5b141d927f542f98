"""Each way to write that a container takes a loss in every pass: what it takes is there, and so is what it had."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
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


REPEATED = """\
import torch
import torch.nn.functional as F

net = torch.nn.Linear(10, 10)
optimizer = torch.optim.Adam(net.parameters())


def train(loader, n):
    for x, y in loader:
        out = net(x)
        outputs = OUTPUTS
        optimizer.zero_grad()
        for i, one in enumerate(outputs):
            F.mse_loss(one, y[i]).backward(RETAINED)
        optimizer.step()
"""


@pytest.mark.parametrize("outputs", ["[out] * n", "n * [out]", "[out] * 100"])
def test_what_is_repeated_is_the_same_at_every_place(outputs: str) -> None:
    """The element that a loop has differentiated stands for the next one here."""
    text = REPEATED.replace("OUTPUTS", outputs)
    for retained, expected in (("retain_graph=True", []), ("", ["AD201"])):
        source = Source.from_bytes(text.replace("RETAINED", retained).encode(), "program.py")
        assert [f.code for f in check(source, CheckOptions()).findings] == expected
