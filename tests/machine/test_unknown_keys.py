"""Tables that are known, and asked for by keys of which nothing is known, or only a part."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

TRAINING = """\
import torch
from collections import defaultdict, namedtuple
from dataclasses import dataclass
from torch import nn

Point = namedtuple("Point", "x y")


@dataclass(frozen=True)
class Pair:
    first: int
    second: int


def train(model, optimizer, batches, p, q):
    losses = []
    for x in batches:
        LOOK_UP
        loss = nn.functional.cross_entropy(model(x), torch.tensor([found]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    print(sum(loss.item() for loss in losses))
"""
COLOURS = "{(0.0, 1.0): 0, (1.0, 0.0): 1}"


def is_run_through(look_up: str) -> bool:
    """Whether the machine comes behind it: to a loss that is kept."""
    text = TRAINING.replace("LOOK_UP", look_up)
    return [f.code for f in check(Source.from_text(text, "program.py"), CheckOptions()).findings] == ["AD102"]


@pytest.mark.parametrize(
    "look_up",
    [
        f"found = {COLOURS}[p]",
        f"found = {COLOURS}[(p, q)]",
        f"found = {COLOURS}[(0.0, q)]",
        f"found = {COLOURS}[tuple([p, q])]",
        f"found = {COLOURS}[tuple(p)]",
        f"found = {COLOURS}[tuple(map(float, p))]",
        f"found = {COLOURS}[tuple(value / 2 for value in p)]",
        f"found = {COLOURS}.get((p, q)) + 1",
        "found = {((0, 1), 2): 3}[((p, 1), q)]",
        "found = {frozenset((1, 2)): 3}[frozenset((2, 1))]",
        "found = {frozenset((1, 2)): 3}[frozenset((p, q))]",
        "found = {Point(1, 2): 3}[Point(1, 2)]",
        "found = {Point(1, 2): 3}[Point(p, 2)]",
        "found = {Pair(1, 2): 3}[Pair(1, 2)]",
        "found = {Pair(1, 2): 3}[Pair(p, 2)]",
    ],
)
def test_a_key_that_may_be_there_is(look_up: str) -> None:
    assert is_run_through(look_up)


@pytest.mark.parametrize(
    "look_up",
    [
        f"found = {COLOURS}[(0.5, 0.5)]",
        f"found = {COLOURS}[(0.5, q)]",
        f"found = {COLOURS}[(p, q, 0.5)]",
        "found = {frozenset((1, 2)): 3}[frozenset((1, 3))]",
        "found = {Point(1, 2): 3}[Point(p, 3)]",
        "found = {Pair(1, 2): 3}[Pair(1, 3)]",
    ],
)
def test_a_key_that_cannot_be_there_is_an_error(look_up: str) -> None:
    assert not is_run_through(look_up)


def test_each_key_of_a_default_dict_has_a_list_of_its_own() -> None:
    kept = "kept = defaultdict(list); kept[Pair(1, 2)].append(3)"
    assert is_run_through(f"{kept}; found = kept[Pair(1, 2)][0]")
    assert not is_run_through(f"{kept}; found = kept[Pair(2, 1)][0]")
