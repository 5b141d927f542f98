"""Repairs that move or repeat statements: small programs, and what comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.fixing import fix
from autodetach.source import Source

FIXTURES = Path(__file__).parent.parent / "fixtures"


def repaired(program: str) -> str:
    return fix(Source.from_bytes(program.encode(), "program.py"), CheckOptions(), unsafe=True).source.text


READ_BY_A_LAMBDA = """\
import torch

log_k = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([log_k], lr=0.1)
unit = torch.ones(1)
k = torch.exp(log_k) * unit
law = lambda x: k * x


def train(law):
    for x in torch.randn(5, 3):
        loss = (law(x) - 2 * x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train(law)
"""


def test_what_a_lambda_reads_is_computed_in_it() -> None:
    assert "\nlaw = lambda x: (torch.exp(log_k) * unit) * x\n" in repaired(READ_BY_A_LAMBDA)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("lambda x: k", "lambda unit: k"),
        ("lambda x: k", "lambda x, k=k: k"),
        ("train(law)\n", "unit = torch.zeros(1)\ntrain(law)\n"),
        ("train(law)\n", "print(k)\ntrain(law)\n"),
    ],
)
def test_nothing_moves_into_a_lambda_where_it_means_another_thing(old: str, new: str) -> None:
    program = READ_BY_A_LAMBDA.replace(old, new).replace("unit: k * x", "unit: k * unit")
    assert "torch.exp(log_k) * unit) *" not in repaired(program)


BUILT_FOR_SOMEBODY = """\
import torch
from torch import nn


class Pose:
    def __init__(self, shift):
        self.shift = shift

    def moved(self, x):
        return x * self.shift


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.raw = nn.Parameter(torch.zeros(3))
        self.shift = self.raw.exp()

    def forward(self):
        return Pose(self.shift)


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.randn(5, 3):
    loss = model().moved(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_an_attribute_of_the_same_name_in_another_class_is_another_one() -> None:
    assert "    def forward(self):\n        self.shift = self.raw.exp()\n" in repaired(BUILT_FOR_SOMEBODY)


@pytest.mark.parametrize(
    ("old", "new"),
    [("class Pose:", "class Pose(Model):"), ("class Model(nn.Module):", "class Model(nn.Module, Pose):")],
)
def test_a_class_that_is_related_may_mean_the_same_attribute(old: str, new: str) -> None:
    program = BUILT_FOR_SOMEBODY.replace(old, new).replace("shift):\n        self", "shift=None):\n        self")
    assert "    def forward(self):\n        self.shift" not in repaired(program)


REFRESHED_ONCE = (FIXTURES / "graph-outside-loop" / "mixture_refreshed_once.before.py").read_text()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("            running = 0.0\n", "            running = self.shares.sum().item()\n"),
        ("            running = 0.0\n", "            running = 0.0 * len(self(batches[0][0]))\n"),
        ("self.refresh()\n", "self.refresh(batches)\n        batches = batches[:3]\n"),
    ],
)
def test_a_call_does_not_move_past_what_it_matters_to(old: str, new: str) -> None:
    program = REFRESHED_ONCE.replace(old, new).replace("def refresh(self)", "def refresh(self, batches=None)")
    assert "\n                self.refresh(" in repaired(REFRESHED_ONCE)
    assert "\n                self.refresh(" not in repaired(program)


TWO_STEPS = (FIXTURES / "step-between-backwards" / "two_steps_for_two_terms.before.py").read_text()


def test_two_steps_with_gradient_zeroed_in_between_are_not_made_one() -> None:
    zeroed = TWO_STEPS.replace("    (fit + 0.1", "    optimizer.zero_grad()\n    (fit + 0.1")
    assert repaired(TWO_STEPS).count("optimizer.step()") == 1
    assert repaired(zeroed) == zeroed


JUDGE_FIRST = (FIXTURES / "step-between-backwards" / "judge_learns_first.before.py").read_text()


def test_gradient_is_not_zeroed_that_a_step_still_takes() -> None:
    penalised = JUDGE_FIRST.replace(
        "        return judge_loss",
        "        (0.1 * self.judge(real).pow(2).mean()).backward()\n        return judge_loss",
    )
    assert repaired(JUDGE_FIRST).count("self.judge_opt.zero_grad()") == 2
    assert repaired(penalised).count("self.judge_opt.zero_grad()") == 1


DRAWN_ONCE = """\
import random

import numpy as np
import torch
from torch import nn

net, head = nn.Linear(4, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)


def noise(n):
    return torch.randn(n, 4)


def sample(n):
    return net(noise(n))


fake = sample(5)
for step in range(4):
    loss = head(fake).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("drawn", "applicability"),
    [
        ("torch.randn(n, 4)", "unsafe"),
        ("torch.from_numpy(np.random.randn(n, 4)).float()", "unsafe"),
        ("random.random() * torch.ones(n, 4)", "unsafe"),
        ("random.choice([0.5, 2.0]) * torch.ones(n, 4)", "unsafe"),
        ("torch.ones(n, 4)", "safe"),
    ],
)
def test_what_draws_random_numbers_somewhere_inside_is_not_moved_safely(drawn: str, applicability: str) -> None:
    program = DRAWN_ONCE.replace("torch.randn(n, 4)", drawn)
    (finding,) = check(Source.from_bytes(program.encode(), "program.py"), CheckOptions()).findings
    assert finding.fix is not None
    assert finding.fix.applicability.value == applicability


WITH_LOCALS = (FIXTURES / "graph-outside-loop" / "mixing_built_with_locals.before.py").read_text()
IN_FORWARD = "        self.system = coupling - coupling.t() - loss\n        half = self.size // 2\n        state"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        self.damping = damping\n", ""),  # nobody has kept it
        ("optimizer = torch", "model.damping = 0.2\noptimizer = torch"),
        ("def forward(self, state, dt)", "def forward(self, state, dt, coupling=None)"),
        ("return state[:, :half]", "return state[:, :half] + len(loss)"),  # a name of the module
        ("        loss = damping", "        size = size + 0\n        loss = damping"),
        ("        loss = damping", "        if size:\n            coupling = 2 * coupling\n        loss = damping"),
        ("        loss = damping", "        coupling.fill_diagonal_(0.5)\n        loss = damping"),
        ("half = size // 2", "half = int(size / 2)"),  # it would be called again
        ("optimizer = torch", "print(model.system)\noptimizer = torch"),
    ],
)
def test_what_needs_local_names_moves_only_where_they_mean_the_same(old: str, new: str) -> None:
    assert IN_FORWARD in repaired(WITH_LOCALS)
    assert old in WITH_LOCALS
    assert IN_FORWARD not in repaired(WITH_LOCALS.replace(old, new))


READ_ELSEWHERE = """\
import sys

import torch
import torch.nn as nn


def fit(model, prior, x, n, optimizer):
    guess = torch.tanh(prior(x))
    if n > 1:
        for _ in range(n):
            optimizer.zero_grad()
            loss = (model(x) * guess).pow(2).mean()
            loss.backward()
            optimizer.step()
    else:
        print(len(x))
    return n


model, prior = nn.Linear(3, 2), nn.Linear(3, 2)
optimizer = torch.optim.SGD([*model.parameters(), *prior.parameters()], 0.1)
fit(model, prior, torch.randn(4, 3), len(sys.argv) + 2, optimizer)
"""
MOVED = "for _ in range(n):\n            guess = torch.tanh(prior(x))\n"


def test_what_only_a_loop_reads_moves_into_it() -> None:
    assert MOVED in repaired(READ_ELSEWHERE)


@pytest.mark.parametrize("reader", [("len(x)", "guess.mean()"), ("return n", "return guess")])
def test_nothing_moves_away_from_what_another_branch_leads_to(reader: tuple[str, str]) -> None:
    assert MOVED not in repaired(READ_ELSEWHERE.replace(*reader))


@pytest.mark.parametrize(("passes", "applicability"), [("n", "unsafe"), ("3", "safe")])
def test_what_is_read_behind_a_loop_moves_safely_if_that_makes_a_pass(passes: str, applicability: str) -> None:
    lines = READ_ELSEWHERE.replace("range(n)", f"range({passes})").replace("return n", "return guess").splitlines()
    plain = [line for line in lines if line.strip() not in ("if n > 1:", "else:", "print(len(x))")]
    program = "\n".join(line[4:] if line.startswith(" " * 8) else line for line in plain) + "\n"
    (finding,) = check(Source.from_bytes(program.encode(), "program.py"), CheckOptions()).findings
    assert finding.fix is not None
    assert finding.fix.applicability.value == applicability
    assert "guess = torch.tanh(prior(x))" in repaired(program).partition("for _")[2]


OLD_AND_NEW = """\
import torch
from torch import nn
from torch.distributions import Normal

mean, log_std = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(2))
optimizer = torch.optim.Adam([mean, log_std], lr=0.1)
std = log_std.exp()
policy = Normal(mean, std)
kept = None
for step in range(4):
    loss = (policy.rsample() - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(kept)
"""


@pytest.mark.parametrize("kept", ["Normal(mean, std.detach())", "std.detach()", "{'old': std.data}", "std * 2"])
def test_constants_made_of_a_value_do_not_move_with_it(kept: str) -> None:
    program = OLD_AND_NEW.replace("kept = None", f"kept = {kept}")
    assert f"\nkept = {kept}\n" in repaired(program)


def test_a_distribution_moves_with_what_it_is_made_of() -> None:
    assert "    std = log_std.exp()\n    policy = Normal(mean, std)\n" in repaired(OLD_AND_NEW)


def test_what_another_optimizer_steps_may_be_meant_to_stay() -> None:
    text = (FIXTURES / "graph-outside-loop" / "rewards_of_another_network.before.py").read_text(encoding="utf-8")
    (found,) = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    assert found.is_unsafe
    own = text.replace("of_critic.step()", "of_judge.step()")
    (found,) = check(Source.from_text(own, "program.py"), CheckOptions()).findings
    assert found.is_safe


KEPT_CLOSE = """\
import torch
import torch.nn as nn

model = nn.Linear(5, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
received = [weight.clone() for weight in model.parameters()]
for _ in range(4):
    x = torch.randn(8, 5)
    apart = sum((weight - old).pow(2).sum() for weight, old in zip(model.parameters(), received))
    loss = model(x).pow(2).mean() + 0.1 * apart
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""


@pytest.mark.parametrize(("made", "is_copy"), [("weight.clone()", True), ("weight.tanh()", False)])
def test_a_copy_is_not_moved_to_where_it_is_compared_with_its_own(made: str, *, is_copy: bool) -> None:
    text = KEPT_CLOSE.replace("weight.clone()", made)
    (found,) = check(Source.from_text(text, "program.py"), CheckOptions()).findings
    assert found.fix is not None
    assert found.fix.message == f"compute `received` {'without graph' if is_copy else 'inside the loop'}"
    assert found.is_unsafe is is_copy
