"""What the proof takes for the same gradient: the ways by which it comes from the losses to a leaf."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.exploring import analyse
from autodetach.proving.proof import compare
from autodetach.suspect import Candidate

PROGRAM = """\
import torch

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for x in torch.randn(5, 3):
    k = torch.exp(w)
    one, two = torch.sigmoid(k * x), torch.tanh(k + x)
    loss = (one * two).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("old", "new", "is_kept"),
    [
        ("torch.tanh(k + x)", "torch.tanh(torch.exp(w) + x)", True),  # what both share is computed for each
        ("torch.tanh(k + x)", "torch.tanh(torch.exp(w) + torch.exp(w) + x)", False),  # counted twice
        ("(one * two).sum()", "(one * two).sum() + torch.exp(w).sum()", False),  # another loss
        ("torch.tanh(k + x)", "torch.tanh(k.detach() + x)", False),
        ("(one * two).sum()", "(one * two).sum() + (torch.sigmoid(k * x) * two).sum()", False),  # the same loss twice
    ],
)
def test_gradient_stays_the_same_along_the_same_ways(old: str, new: str, is_kept: bool) -> None:
    before, after = (analyse(ast.parse(text)).runs[0] for text in (PROGRAM, PROGRAM.replace(old, new)))
    verdict = compare(before, after, Candidate("", ()), {})
    assert verdict.kept == is_kept, verdict.reason
    assert not is_kept or verdict.equal


CELL = """\
import torch

cell = torch.nn.LSTMCell(3, 3)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
for part in torch.randn(3, 2, 4, 2, 3):
    optimizer.zero_grad()
    c_before = torch.zeros(2, 3)
    for rows in part:
        h, c = torch.zeros(2, 3), c_before
        for row in rows:
            h, c = cell(row, (h, c))
        c_before = c_of(c)
        h.sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("begun", ["c.detach()", "c"])  # the second raises in the second pass
def test_both_results_of_a_cell_are_ways_to_what_made_them(begun: str) -> None:
    old = CELL.replace("c_of(c)", begun)
    before, after = (analyse(ast.parse(text)).runs[0] for text in (old, old.replace("(h, c))", "(h, c.detach()))")))
    verdict = compare(before, after, Candidate("", ()), {})
    assert not verdict.kept


def test_a_cut_between_passes_keeps_the_ways_of_each() -> None:
    texts = (CELL.replace("c_of(c)", "c"), CELL.replace("c_of(c)", "c.detach()"))
    before, after = (analyse(ast.parse(text)).runs[0] for text in texts)
    verdict = compare(before, after, Candidate("", ()), {})
    assert verdict.kept
    assert not verdict.equal
