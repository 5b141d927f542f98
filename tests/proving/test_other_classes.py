"""A repair of a base class is unsafe where a class that nothing makes may train what that keeps."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

LEARNERS = """\
import torch
from torch import nn

torch.manual_seed(0)


class Learner:
    def __init__(self, model, sgd):
        self.model, self.sgd, self.errors = model, sgd, []

    def see(self, x):
        error = self.model(x).pow(2).mean()
        self.errors.append(error)
        return error

    def close(self):
        return sum(error.item() for error in self.errors)


class Steps(Learner):
    def see(self, x):
        error = super().see(x)
        self.sgd.zero_grad()
        error.backward()
        self.sgd.step()
        return error


class Whole({base}):
{body}

model = nn.Linear(3, 1)
learner = Steps(model, torch.optim.SGD(model.parameters(), 0.1))
for x in torch.randn(6, 8, 3):
    learner.see(x)
print(learner.close())
"""
ALL_AT_ONCE = """\
    def close(self):
        self.sgd.zero_grad()
        torch.stack(self.errors).mean().backward()
        self.sgd.step()
        return super().close()
"""
UNSAFE = {
    "it differentiates what is kept": LEARNERS.format(base="Learner", body=ALL_AT_ONCE),
    "it is made otherwise": LEARNERS.format(
        base="Learner",
        body="    def __init__(self, model, sgd, rate):\n        super().__init__(model, sgd)\n\n" + ALL_AT_ONCE,
    ),
    "it is derived from another that is made": LEARNERS.format(base="Steps", body=ALL_AT_ONCE),
}
SAFE = {
    "it only reads what is kept": LEARNERS.format(
        base="Learner", body="    def close(self):\n        return max(error.item() for error in self.errors)\n"
    ),
    "it differentiates something else": LEARNERS.format(
        base="Learner",
        body="    def see(self, x):\n        error = super().see(x)\n        error.backward()\n"
        "        print(len(self.errors))\n        return error\n",
    ),
    "it is no relative": LEARNERS.format(base="object", body=ALL_AT_ONCE.replace("super().close()", "0")),
}


@pytest.mark.parametrize("name", UNSAFE)
def test_a_class_that_nothing_makes_may_train_what_its_base_keeps(name: str) -> None:
    assert applicability(UNSAFE[name]) == [Applicability.UNSAFE]


@pytest.mark.parametrize("name", SAFE)
def test_a_class_that_does_not_leaves_the_repair_safe(name: str) -> None:
    assert applicability(SAFE[name]) == [Applicability.SAFE]


def applicability(program: str) -> list[Applicability]:
    found = check(Source.from_bytes(program.encode(), "program.py"), CheckOptions()).findings
    return [finding.fix.applicability for finding in found if finding.fix is not None]
