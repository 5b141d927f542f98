"""Programs with more paths than are run: those that decide about a differentiation come first, and what no path shows
is not taken for granted."""

from __future__ import annotations

from pathlib import Path

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.machine import exploring
from autodetach.machine.exploring import variants
from autodetach.machine.oracle import Policy
from autodetach.machine.run import Run
from autodetach.machine.waiting import Waiting
from autodetach.proving.left_out import LEFT_OUT
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


def codes(text: str = ATTACKS) -> list[str]:
    return [finding.code for finding in check(Source.from_text(text, "attacks.py"), CheckOptions(fixes=False)).findings]


def test_what_decides_where_a_graph_is_walked_is_run_first() -> None:
    """On its first path the attack ends at once, and walks each graph one time."""
    assert "AD103" not in codes()


def test_a_flag_stays_where_paths_that_may_need_it_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploring, "MAX_PATHS", 1)
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
    monkeypatch.setattr(exploring, "MAX_PATHS", 1)
    text = SUMS.replace("AT_LAST", at_last)
    (finding,) = check(Source.from_text(text, "train.py"), CheckOptions()).findings
    assert finding.fix is not None
    assert finding.fix.why_unsafe == (None if is_safe else LEFT_OUT)


DEAR = (Path(__file__).parents[2] / "fixtures/superfluous-retain-graph/ended_early.before.py").read_text()
LAST = "torch.manual_seed(step)\n"
AGAIN = "model.last.backward()\n"


@pytest.mark.parametrize(
    ("old", "new", "is_found"),
    [
        (LAST, LAST + "    return loss\n", True),
        # The path of a path: with it, each test around has gone both ways.
        ("            break\n", f"            {AGAIN}            break\n", False),
        ("            patience += 1\n", f"            patience += 1\n            {AGAIN}", False),
        (LAST, f"{LAST}        elif step > 0:\n            {AGAIN}", False),
    ],
)
def test_what_is_open_about_a_kept_graph_is_run_before_the_budget_ends(old: str, new: str, is_found: bool) -> None:
    text = DEAR.replace(old, new)
    assert text != DEAR
    if AGAIN in new:
        text = text.replace("(retain_graph=True)\n", "(retain_graph=True)\n        model.last = loss\n")
    assert ("AD103" in codes(text)) == is_found


MIXED = """\
import torch
from settings import config, is_due, loader
from torch import nn

base, head = nn.Linear(3, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for epoch in range(config.epochs):
    for step, (x, y) in enumerate(loader):
        TEST
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(head(features), y)
        loss.backward(retain_graph=True)
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("features = torch.tanh(base(x)) if is_due(step) else features", []),
        ("if is_due(step):\n            features = torch.tanh(base(x))", []),
        ("features = torch.tanh(base(x))\n        if is_due(step):\n            shown = step", ["AD103"]),
    ],
)
def test_a_flag_stays_where_ways_that_change_from_pass_to_pass_are_left_out(
    monkeypatch: pytest.MonkeyPatch, test: str, found: list[str]
) -> None:
    monkeypatch.setattr(exploring, "variants", only_others)
    assert codes(MIXED.replace("TEST", test)) == found


def only_others(of: Run) -> list[Policy]:
    return [policy for policy in variants(of) if all(way == "other" for _, way in policy.flips)]


def test_a_path_that_was_one_too_many_takes_the_place_of_the_last() -> None:
    one, two, three = (Policy(((("f", name, 0), "other"),)) for name in "abc")
    waiting = Waiting(3)
    assert waiting.next() == Policy()
    waiting.add([one, two, three, one])
    assert waiting.prefer({("f", "c", 0)}) and not waiting.prefer({("f", "d", 0)})
    assert [waiting.next(), waiting.next()] == [three, one]
    assert not waiting and not waiting.prefer({("f", "b", 0)})
