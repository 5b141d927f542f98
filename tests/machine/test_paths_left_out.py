"""Programs with more paths than are run: those that decide about a differentiation come first, and what no path shows
is not taken for granted."""

from __future__ import annotations

import pytest

from autodetach.checker import CheckOptions, check
from autodetach.machine import run
from autodetach.proving.repairs import LEFT_OUT
from autodetach.source import Source

SETTINGS = "\n".join(f"if options.size_{n} == 4:\n    model = nn.Linear(4, 4)" for n in range(30))
ATTACKS = f"""\
import torch
import torch.nn.functional as F
from settings import options
from torch import nn


def attack(model, data, target, rounds):
    clean = model(data)
    found = data
    while rounds > 0:
        found = found.detach().requires_grad_()
        output = model(found)
        left = []
        for n in range(len(target)):
            if output[n].argmax() != target[n]:
                print("fooled", n)
            else:
                left.append(n)
        (output - clean).abs().mean().backward(retain_graph=True)
        if len(left) == 0:
            return found.detach()
        found = found + 0.1 * found.grad.sign()
        rounds -= 1
    return found.detach()


model = nn.Sequential(nn.Linear(4, 4))
{SETTINGS}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for data, target in options.loader:
    found = attack(model, data, target, options.rounds)
    optimizer.zero_grad()
    F.cross_entropy(model(found), target).backward()
    optimizer.step()
"""


def codes() -> list[str]:
    return [finding.code for finding in check(Source.from_text(ATTACKS, "attacks.py"), CheckOptions()).findings]


def test_what_decides_where_a_graph_is_walked_is_run_first() -> None:
    """On its first path the attack ends at once, and walks each graph one time."""
    assert "AD103" not in codes()


def test_a_flag_stays_where_paths_that_may_need_it_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MAX_PATHS", 1)
    assert codes() == []


SUMS = """\
import torch.nn.functional as F
from batches import batches
from torch import nn


def train(model, optimizer):
    total = 0.0
    for data, target, is_odd in batches:
        if is_odd == 1:
            data = model(data)
        loss = F.mse_loss(model(data), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
        if is_odd == 2:
            AT_LAST
    print(float(total))
"""


@pytest.mark.parametrize(
    ("at_last", "is_safe"), [("model.train()", True), ("mean = total / 2\n            mean.backward()", False)]
)
def test_no_repair_is_safe_where_paths_that_differentiate_are_left_out(
    monkeypatch: pytest.MonkeyPatch, at_last: str, is_safe: bool
) -> None:
    monkeypatch.setattr(run, "MAX_PATHS", 1)
    text = SUMS.replace("AT_LAST", at_last)
    (finding,) = check(Source.from_text(text, "train.py"), CheckOptions()).findings
    assert finding.fix is not None
    assert finding.fix.why_unsafe == (None if is_safe else LEFT_OUT)
