"""What an error left half done is no evidence against what is entered behind it; what that does by itself still is."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.exploring import analyse
from autodetach.machine.run import Run

AGENT = """
import torch
class Agent:
    def __init__(self):
        self.rate = torch.zeros(1, requires_grad=True)
        self.optimizer = torch.optim.SGD([self.rate], lr=0.1)
        self.alpha = self.rate.exp() * self.rate
    def learn(self):
        {learn}
        {ends}
        self.alpha = self.rate.exp() * self.rate
    def finish(self):
        {finish}
"""
WALK = "self.alpha.sum().backward()"
STEP = "self.rate.sum().backward(); self.optimizer.step()"
ENDS = ["None.log()", "raise NotImplementedError", "{}['log']"]


def runs_of(learn: str, ends: str, finish: str) -> list[Run]:
    return analyse(ast.parse(AGENT.format(learn=learn, ends=ends, finish=finish))).runs


@pytest.mark.parametrize("ends", ENDS)
def test_what_was_walked_in_front_of_an_error(ends: str) -> None:
    assert not any(run.machine.second_walks for run in runs_of(WALK, ends, f"{WALK}; self.alpha = self.rate.exp()"))


@pytest.mark.parametrize("ends", ENDS)
def test_what_was_changed_in_front_of_an_error(ends: str) -> None:
    assert not any(run.machine.stale for run in runs_of(STEP, ends, f"{WALK}; self.alpha = self.rate.exp()"))


def test_what_is_walked_twice_behind_an_error() -> None:
    assert any(run.machine.second_walks for run in runs_of(WALK, "None.log()", WALK))


def test_what_is_changed_behind_an_error() -> None:
    assert any(run.machine.stale for run in runs_of(STEP, "None.log()", f"{STEP}; {WALK}"))


def test_what_is_walked_twice_in_front_of_it() -> None:
    assert any(run.machine.second_walks for run in runs_of(f"{WALK}; {WALK}", "None.log()", "pass"))


def test_what_no_error_ends() -> None:
    assert any(run.machine.second_walks for run in runs_of(f"{WALK}; return", "pass", WALK))
