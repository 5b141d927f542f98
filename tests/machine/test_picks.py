"""Losses picked by places that nobody knows: other ones in each pass, until all of them have had their turn."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

HEAD = """
import random
import torch
import torch.nn as nn
model = nn.Linear(4, 1)
losses = []
for step in range(4):
    losses.append(model(torch.randn(5, 4)).pow(2).mean())
order = torch.randperm(4)
"""
APART = {
    "random order": "for i in order:\n    losses[i].backward()\n",
    "chunks": "for chunk in order.split(2):\n    sum(losses[i] for i in chunk).backward()\n",
    "chunks in a loop": "for chunk in order.split(2):\n    for i in chunk:\n        losses[i].backward()\n",
    "chunks by their place": "for s in range(0, 4, 2):\n    for i in order[s : s + 2]:\n        losses[i].backward()\n",
    "two of them": "a, b = order[:2]\nlosses[a].backward()\nlosses[b].backward()\n",
    "gathered before": "picked = [losses[i] for i in order]\nfor loss in picked:\n    loss.backward()\n",
}
AGAIN = {
    "in every epoch": "for epoch in range(3):\n    for i in order:\n        losses[i].backward()\n",
    "in every epoch, as one sum": "for epoch in range(3):\n    sum(losses[i] for i in order).backward()\n",
    "gathered before, in every epoch": (
        "picked = [losses[i] for i in order]\nfor epoch in range(3):\n    sum(picked).backward()\n"
    ),
    "the same place": "k = random.randrange(4)\nlosses[k].backward()\nlosses[k].backward()\n",
    "what one shares with the others": (
        "z = torch.exp(model(torch.randn(5, 4)))\nlosses = [(z * k).sum() for k in range(3)]\n"
        "for i in order[:3]:\n    losses[i].backward()\n"
    ),
}


def _codes(text: str) -> list[str]:
    return [finding.code for finding in check(Source.from_text(text, "program.py"), CheckOptions()).findings]


@pytest.mark.parametrize("program", APART.values(), ids=APART.keys())
def test_each_pick_may_be_another_one(program: str) -> None:
    assert _codes(HEAD + program) == []


@pytest.mark.parametrize("program", AGAIN.values(), ids=AGAIN.keys())
def test_all_have_had_their_turn(program: str) -> None:
    assert _codes(HEAD + program) == ["AD201"]
