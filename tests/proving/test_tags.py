"""Records that are told apart by their tags, of which not every one is met."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

TASKS = """\
import torch
from torch import nn

scale = nn.Linear(3, 1)
optimizer = torch.optim.SGD(scale.parameters(), lr=0.05)
rows = torch.randn(20, 4, 3)
history = []


def learn(task):
    for row in rows:
        error = (scale(row) - 1).square().mean()
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
        history.append((task, error))


for task in "north east south west up down left right in out over under".split():
    learn(task)
for task, error in history:
    if task == "TAG":
        print(error.detach().numpy())
    else:
        print(task, float(error))
"""


@pytest.mark.parametrize(("tag", "is_safe"), [("under", False), ("north", True)])
def test_no_safe_repair_where_the_tag_that_is_asked_for_is_never_met(tag: str, is_safe: bool) -> None:
    text = TASKS.replace("TAG", tag)
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD102"
    assert finding.fix is not None
    assert (finding.fix.applicability is Applicability.SAFE) == is_safe


def test_nothing_is_said_where_what_is_not_reached_differentiates() -> None:
    text = TASKS.replace('"TAG"', '"under"').replace("print(error.detach().numpy())", "error.backward()")
    assert not check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
