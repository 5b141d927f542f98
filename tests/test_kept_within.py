"""A method of a network out of view may compute with what the network has kept, whatever it is given."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

TRAINER = """\
import torch
from torch import nn
from plugin import build

network = build()
weigher = nn.Linear(3, 1)
optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
for x in torch.rand(9, 4, 3):
    optimizer.zero_grad()
    far = FIRST.square().mean()
    far.backward(retain_graph=True)
    penalty = LATER.mean()
    penalty.backward()
    optimizer.step()
"""


def said_of(first: str, later: str) -> list[tuple[bool, str | None]]:
    text = TRAINER.replace("FIRST", first).replace("LATER", later)
    result = check(Source.from_text(text, "program.py"), CheckOptions())
    return [("in view" in f.message, f.fix and f.fix.why_unsafe) for f in result.findings if f.code == "AD103"]


@pytest.mark.parametrize("later", ["network.penalty()", "network.penalty(x)", "network.weighed(by=x)"])
def test_nothing_is_said_where_a_method_may_need_what_the_call_kept(later: str) -> None:
    assert said_of("network(x)", later) == []


@pytest.mark.parametrize(
    ("first", "later"),
    [("network(x)", "network.weighed(weigher(x))"), ("network.value(x)", "network.action(x)")],
)
def test_a_doubt_where_the_method_may_as_well_compute_anew(first: str, later: str) -> None:
    doubt = f"`{later}` may compute with what it has kept of this graph"
    assert said_of(first, later) == [(True, doubt)]


def test_what_a_network_in_view_is_called_with_is_told_without_doubt() -> None:
    assert said_of("weigher(x)", "network(x)") == [(False, None)]


def test_what_is_not_in_view_is_said_to_be_so_where_the_same_method_is_called_again() -> None:
    assert [in_view for in_view, _ in said_of("network.value(x[:2])", "network.value(x[2:])")] == [True]
