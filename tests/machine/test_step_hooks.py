"""What an optimizer calls before and behind each of its steps: the graph that a hook drops is not carried on."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.exploring import analyse

PROGRAM = """\
import functools

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook


class Scaled:
    def __init__(self):
        self.raw = nn.Parameter(torch.ones(3))
        self.cached = None

    def weight(self):
        if self.cached is None:
            self.cached = torch.exp(self.raw)
        return self.cached

    def forget(self, *given):
        self.cached = None

    def forget_for(self, optimizer, args, kwargs):
        if optimizer is kept and args[0] is optimizer and "closure" not in kwargs:
            self.cached = None


net = Scaled()
kept = torch.optim.SGD([net.raw], lr=0.1)
other = torch.optim.SGD([nn.Parameter(torch.ones(2))], lr=0.1)
{}
for _ in range(4):
    loss = (net.weight() * 2).sum()
    kept.zero_grad()
    loss.backward()
    kept.step()
"""


def _raises(line: str) -> bool:
    runs = analyse(ast.parse(PROGRAM.format(line))).runs
    return any(run.machine.second_walks or run.machine.stale for run in runs)


@pytest.mark.parametrize(
    "line",
    [
        "kept.register_step_post_hook(lambda *given: net.forget())",
        "kept.register_step_post_hook(net.forget)",
        "kept.register_step_post_hook(hook=net.forget_for)",
        "kept.register_step_pre_hook(net.forget_for)",
        "handle = kept.register_step_post_hook(functools.partial(Scaled.forget, net))",
        "register_optimizer_step_post_hook(net.forget_for)",
        "register_optimizer_step_pre_hook(net.forget_for)",
    ],
)
def test_a_hook_is_called_at_each_step(line: str) -> None:
    assert not _raises(line)


@pytest.mark.parametrize(
    "line",
    [
        "pass",
        "kept.register_step_post_hook(net.forget).remove()",
        "other.register_step_post_hook(net.forget)",
        "kept.register_step_post_hook(lambda optimizer, args, kwargs: None)",
    ],
)
def test_no_hook_that_drops_it_is_called(line: str) -> None:
    assert _raises(line)
