"""Repairs that no fixture can show by itself: small programs, and the line that comes out."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Literal

import pytest
from refusals import told

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.fixing import fix
from autodetach.machine import exploring
from autodetach.source import Source

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"

STATES_OF_A_ROLL_OUT = """\
import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 8)
        self.value = nn.Linear(8, 1)

    def forward(self, x, state):
        hx = None if state is None else (state[0], state[1])
        h, c = self.cell(x, hx)
        return self.value(h), (h, c)


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters())
state, states = None, []
for x in torch.randn(6, 5, 4):
    states.append(state)
    state = agent(x, state)[1]
for x, kept in zip(torch.randn(6, 5, 4), states):
    value, _ = agent(x, kept)
    optimizer.zero_grad()
    value.mean().backward()
    optimizer.step()
"""


def test_a_state_that_is_none_at_first_is_detached_if_there_is_one() -> None:
    fixed = fix(Source.from_bytes(STATES_OF_A_ROLL_OUT.encode(), "program.py"), CheckOptions(), unsafe=True)
    assert "self.cell(x, tuple(s.detach() for s in hx) if hx is not None else None)" in fixed.source.text
    assert not fixed.remaining


def test_two_faults_that_read_the_same_are_told_once() -> None:
    text = (FIXTURES / "attached-fake" / "each_part_its_own_step.before.py").read_bytes()
    assert len(check(Source.from_bytes(text, "a.py"), CheckOptions()).findings) == 1


@pytest.mark.parametrize("method", ["item", "detach"])
def test_a_running_sum_adds_up_what_the_settings_prefer(method: Literal["item", "detach"]) -> None:
    text = (FIXTURES / "carried-state" / "running_sum_scaled.before.py").read_bytes()
    (finding,) = check(Source.from_bytes(text, "a.py"), CheckOptions(prefer_accumulate=method)).findings
    assert finding.fix is not None
    assert f"add up `out_loss.{method}()`" in finding.fix.message


SAMPLES = FIXTURES / "graph-outside-loop" / "samples_of_several_steps.before.py"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("            opt_painter.zero_grad()\n", "            opt_painter.zero_grad()\n            z = real[:, :3]\n"),
        ("        # the painter catches up\n", "        z = real[:, :3]\n"),
        ("            opt_judge.step()\n", "            opt_judge.step()\n            z = torch.randn(len(real), 3)\n"),
        ("            painted = painter(z)\n", "            if len(real) > 2:\n                painted = painter(z)\n"),
    ],
    ids=["bound in the loop", "bound before it", "bound where it is built", "built in a branch"],
)
def test_what_would_become_something_else_is_not_built_again(old: str, new: str) -> None:
    """The values of the generator's samples are those of the inputs that they were made of."""
    text = SAMPLES.read_text()
    assert text.count(old) == 1
    source = Source.from_bytes(text.replace(old, new).encode(), "a.py")
    fixed = fix(source, CheckOptions(), unsafe=True)
    assert fixed.source.text == source.text
    assert [finding.code for finding in fixed.remaining] == ["AD301"]


MEMORY = """\
import random
import torch
from torch import nn

encoder, value = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *value.parameters()], lr=0.05)
rows = []
for step in range(12):
    x = torch.randn(3)
    rows.append((encoder(x), x.sum()))
    batch = rows
    loss = sum((value(code) - reward).pow(2).mean() for code, reward in batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("batch", "is_emptied"), [("rows", True), ("random.sample(rows, min(4, len(rows)))", False)], ids=["all", "sampled"]
)
def test_a_memory_that_is_drawn_from_is_not_emptied(batch: str, is_emptied: bool) -> None:
    source = Source.from_bytes(MEMORY.replace("batch = rows", f"batch = {batch}").encode(), "a.py")
    (finding,) = check(source, CheckOptions()).findings
    assert finding.code == "AD302"
    assert (finding.fix is not None and "been used" in finding.fix.message) is is_emptied


def test_a_list_is_not_emptied_where_torch_would_be_given_nothing() -> None:
    text = MEMORY + "print(torch.stack([code for code, _ in rows]).mean())\n"
    (finding,) = check(Source.from_bytes(text.encode(), "a.py"), CheckOptions()).findings
    assert finding.code == "AD302"
    assert finding.fix is None or "been used" not in finding.fix.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    return loss.item()\n", "    return loss.item() / len(gambler.gains)\n"),
        ("round(learn(gambler, optimizer), 4))", "round(learn(gambler, optimizer) / len(gambler.gains), 4))"),
        ("round(learn(gambler, optimizer), 4))", "learn(gambler, optimizer))\n        print(sum(gambler.gains))"),
    ],
    ids=["where it is returned", "in the call's statement", "behind the call"],
)
def test_lists_that_are_read_later_are_not_emptied(old: str, new: str) -> None:
    text = (FIXTURES / "carried-state" / "steps_never_cleared.before.py").read_text()
    assert text.count(old) == 1
    source = Source.from_bytes(text.replace(old, new).encode(), "a.py")
    fixed = fix(source, CheckOptions(), unsafe=True)
    for emptied in (".clear()", " = []"):
        assert fixed.source.text.count(emptied) == text.count(emptied)
    assert "s.detach()" in fixed.source.text and not fixed.remaining


@pytest.mark.parametrize(
    "differentiation",
    ["    if i % 2:\n        continue\n    so_far.backward()\n", "    if i % 2 == 0:\n        so_far.backward()\n"],
    ids=["behind continue", "in a branch"],
)
def test_a_sum_that_not_every_pass_differentiates_keeps_its_terms(differentiation: str) -> None:
    """Else the passes that differentiate nothing would train nothing."""
    text = (FIXTURES / "carried-state" / "running_sum_of_expressions.before.py").read_text()
    old = "    so_far.backward()\n"
    assert text.count(old) == 1
    source = Source.from_bytes(text.replace(old, differentiation).encode(), "a.py")
    fixed = fix(source, CheckOptions(), unsafe=True)
    assert "so_far = so_far.detach()" in fixed.source.text
    assert "mse_loss(net(x), y) / every  # one quarter each" in fixed.source.text
    assert "_term" not in fixed.source.text
    assert not fixed.remaining


OLD_SPELLING = """\
import torch
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    loss = (model(torch.randn(8, 4)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.data[0])
"""


def test_old_spelling_is_repaired_everywhere_by_one_trial() -> None:
    text = OLD_SPELLING + "    print(loss.data[0])\n" * 15
    checked = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions())
    assert [f.code for f in checked.findings] == ["AD401"] * 16
    assert all(f.fix is not None for f in checked.findings)
    assert checked.cost < 3 * sum(one.cost for one in exploring.analyse(ast.parse(text)).runs)


def test_what_a_budget_cut_short_says_nothing_about_a_repair(monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget ends on the second path; the first, that shows the fault, is run to its end."""
    text = """\
import torch
from settings import doubled
from torch import nn

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
for step in range(100):
    loss = (model(torch.randn(8, 4)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss
    if doubled > 3:
        loss = loss * 2
    print(float(total))
"""
    source = Source.from_bytes(text.encode(), "program.py")
    whole = exploring.analyse(ast.parse(text))
    spent = whole.runs[0].fuel - whole.runs[0].machine.fuel
    assert len(whole.runs) > 1
    monkeypatch.setattr(exploring, "FUEL_PER_RUN", spent + 10)
    monkeypatch.setattr(exploring, "FUEL_PER_FILE", spent + spent // 2)
    assert [r.finished for r in exploring.analyse(ast.parse(text)).runs] == [True, False]
    (finding,) = check(source, CheckOptions()).findings
    assert finding.fix is not None


TERM_OUT_OF_VIEW = """\
import torch
from terms import smoothness
from torch import nn

generator, critic = nn.Sequential(nn.Linear(4, 4), nn.Tanh()), nn.Linear(4, 1)
of_generator = torch.optim.Adam(generator.parameters())
of_critic = torch.optim.Adam(critic.parameters())
for step in range(100):
    real, fake = torch.randn(8, 4), generator(torch.randn(8, 4))
    term = smoothness(critic, real, fake)
    loss = critic(fake.detach()).mean() - critic(real).mean() + 10 * term
    of_critic.zero_grad()
    loss.backward()
    of_critic.step()
    loss = -critic(fake).mean()
    of_generator.zero_grad()
    loss.backward()
    of_generator.step()
"""


def test_what_a_module_is_given_to_may_train_it() -> None:
    """The term, which is out of view, is not cut off from the critic; and it may hand on nothing of `fake`."""
    source = Source.from_bytes(TERM_OUT_OF_VIEW.encode(), "program.py")
    (finding,) = check(source, CheckOptions()).findings
    assert "line 10: `smoothness` hands on the history of its arguments" in finding.assumptions
    assert finding.fix is not None
    assert b"smoothness(critic, real, fake.detach())" in source.stored_with(finding.fix.edits)


def test_a_gradient_penalty_detaches_what_it_is_given() -> None:
    """Most do, at points of their own between the samples: nothing is assumed of one that is out of view."""
    text = TERM_OUT_OF_VIEW.replace("smoothness", "gradient_penalty")
    assert check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings == ()


KEPT_OUTPUTS = """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.outputs = []

    def encode(self, batches):
        for x in batches:
            self.outputs.append(self.linear(x).relu())
"""


@pytest.mark.parametrize(
    ("reader", "is_safe"),
    [("", False), ("\n    def read(self):\n        return self.outputs[0].mean().item()\n", True)],
)
def test_what_nothing_in_view_reads_somebody_else_may_differentiate(reader: str, is_safe: bool) -> None:
    (finding,) = check(Source.from_bytes((KEPT_OUTPUTS + reader).encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD102"
    assert finding.fix is not None
    assert (finding.fix.applicability is Applicability.SAFE) == is_safe


def test_a_state_that_two_reads_carry_to_one_loss_is_not_cut_between_them() -> None:
    text = (FIXTURES / "carried-state/goes_on_from_loss_to_loss.before.py").read_text(encoding="utf-8")
    twice = text.replace("    answer_loss =", "    reader.read(page)\n    answer_loss =")
    assert twice != text
    fixed = fix(Source.from_bytes(twice.encode(), "program.py"), CheckOptions(), unsafe=True)
    assert "self.mind.detach()" not in fixed.source.text


def test_parameters_whose_names_mean_something_else_there_are_not_asked_for() -> None:
    text = (FIXTURES / "attached-fake/each_part_its_own_step.before.py").read_text(encoding="utf-8")
    other = text.replace("judge_opt = ", "net = judge\njudge_opt = ").replace("(judge.parameters", "(net.parameters")
    for program, is_asked in ((other, True), (other.replace("parts = ", "net = coder\nparts = "), False)):
        fixed = fix(Source.from_bytes(program.encode(), "program.py"), CheckOptions(), unsafe=True)
        assert ("inputs=list(net.parameters())" in fixed.source.text) == is_asked


def test_a_helper_that_does_more_than_cut_states_is_not_called() -> None:
    text = (FIXTURES / "carried-state/cut_by_a_helper.before.py").read_text(encoding="utf-8")
    for program, is_called in (
        (text, True),
        (text.replace("def cut(network):", "def cut(network):\n    print()"), False),
    ):
        fixed = fix(Source.from_bytes(program.encode(), "program.py"), CheckOptions(), unsafe=True)
        assert (fixed.source.text.count("cut(network)") > program.count("cut(network)")) == is_called


MEAN_ASKED_FOR_ITS_ITEM = """\
def train(options, loader, model, optimizer):
    for x in loader:
        total = 0.0
        for _ in range(options.steps):
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            total += loss
        mean = total / options.steps
        mean = 2 * mean
        print(mean.item())
"""


def test_what_is_computed_of_a_number_and_something_unknown_is_no_tensor() -> None:
    """`options.steps` may be a tensor, for all that is known; `.item()` of a quotient of numbers would raise."""
    fixed = fix(Source.from_bytes(MEAN_ASKED_FOR_ITS_ITEM.encode(), "program.py"), CheckOptions(), unsafe=True)
    assert "total += loss.detach()" in fixed.source.text


OF_A_LIMIT = """\
import torch

net = torch.nn.Linear(4, 4)
optimizer = torch.optim.Adam(net.parameters())
weight = 0
for step in range(20):
    mean = net(torch.rand(8, 4))
    excess = mean.pow(2).mean() - 0.5
    weight = max(0, weight + 0.01 * excess)
    loss = (mean - 1).pow(2).mean() + weight * excess
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
"""


def test_what_may_be_the_number_of_a_limit_is_not_taken_for_a_tensor() -> None:
    """`max(0, tensor)` is the number 0 where the tensor is less, and that has no `detach()`."""
    (finding,) = check(Source.from_bytes(OF_A_LIMIT.encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD302"
    assert finding.fix is None or "weight.detach()" not in finding.fix.edits[-1].replacement


def test_a_state_that_goes_on_into_the_next_forward_is_in_doubt() -> None:
    """To keep the graph trains through the state, which its author may have forgotten to reset."""
    text = (FIXTURES / "shared-graph" / "state_goes_on_into_a_second_view.before.py").read_bytes()
    (finding,) = check(Source.from_bytes(text, "a.py"), CheckOptions(alternatives=True)).findings
    assert finding.fix is not None
    assert all(f.applicability is Applicability.UNSAFE for f in (finding.fix, *finding.alternatives))
    assert any("keep the graph" in f.message for f in finding.alternatives)


SWITCHED_OFF = """\
import torch
from torch import nn


class Agent:
    def __init__(self):
        self.with_limit = False
        self.first, self.second = nn.Linear(4, 1), nn.Linear(4, 1)
        self.log_alpha = torch.zeros(1, requires_grad=True)

    def learn(self, states):
        first, second = self.first(states).mean(), self.second(states).mean()
        if self.with_limit:
            first, second = self.log_alpha.exp() * first, self.log_alpha.exp() * second
            (-first - second).backward(retain_graph=True)
        first.backward(retain_graph=True)
        second.backward()
"""


@pytest.mark.parametrize(
    ("branch", "is_safe"),
    [
        ("            (-first - second).backward(retain_graph=True)\n", False),
        ("            first = -first\n", True),
        ("            first.backward()\n            return\n", False),
        ("            first.backward()\n        else:\n    ", True),
    ],
)
def test_what_a_switch_keeps_from_being_walked_is_in_doubt(branch: str, is_safe: bool) -> None:
    """Not where nothing is walked with the switch on, nor where that is the other branch."""
    text = SWITCHED_OFF.replace("            (-first - second).backward(retain_graph=True)\n", branch)
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert finding.code == "AD103"
    assert finding.fix is not None
    assert (finding.fix.applicability is Applicability.SAFE) == is_safe


TWO_FITS = """\
import torch

x, y = torch.randn(12, 3), torch.randn(12)
w = torch.zeros(3, requires_grad=True)
for step in range(5):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
w = torch.zeros(3, requires_grad=True)
for step in range(5):
    loss = (x @ w - y).abs().mean()
    loss.backward()
    w = w - 0.1 * w.grad
"""


def test_gradient_that_another_loop_forgets_is_forgotten_in_this_one() -> None:
    fixed = fix(Source.from_bytes(TWO_FITS.encode(), "program.py"), CheckOptions(), unsafe=False)
    assert fixed.source.text.endswith("        w -= 0.1 * w.grad\n    w.grad = None\n")


ZEROED_AND_KEPT = """\
import torch

x, y = torch.randn(12, 3), torch.randn(12)
w = torch.randn(3, requires_grad=True)
seen = []
for step in range(5):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w = w - 0.1 * w.grad
        w.grad.zero_()
    seen.append((step, w.detach()))
"""


def test_a_new_leaf_has_no_gradient_that_could_be_zeroed() -> None:
    (finding,) = check(Source.from_bytes(ZEROED_AND_KEPT.encode(), "program.py"), CheckOptions()).findings
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.UNSAFE


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("print(w.detach(), f'{w}', w.shape)", "update `w` in place, under `torch.no_grad()`"),
        ("kept.append(w.detach().clone())", "update `w` in place, under `torch.no_grad()`"),
        ("noted(kept, w.norm().item())", "update `w` in place, under `torch.no_grad()`"),
        ("shown(w.detach())", "update `w` in place, under `torch.no_grad()`"),
        ("kept += [w.detach()]", "make `w` a new leaf"),
        ("kept = kept + [(step, {'w': w.data})]", "make `w` a new leaf"),
        ("noted(kept, value=w)", "make `w` a new leaf"),
        ("record(w.detach())", "make `w` a new leaf"),
        ("first = w[0]", "make `w` a new leaf"),
        ("for p in (w,): kept.append(p)", "make `w` a new leaf"),
    ],
)
def test_what_something_else_holds_is_not_changed_in_place(line: str, message: str) -> None:
    text = f"""\
import torch
from elsewhere import record

def noted(where, value):
    where.append(value)

def shown(value):
    print(value.sum())

x, y = torch.randn(12, 3), torch.randn(12)
w, kept = torch.zeros(3, requires_grad=True), []
for step in range(5):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    w = w - 0.1 * w.grad
    {line}
"""
    (finding,) = (
        f for f in check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings if f.code == "AD303"
    )
    assert finding.fix is not None
    assert finding.fix.applicability is Applicability.SAFE
    assert finding.fix.message == message


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (
            "code_read_back_behind_step",
            "        self.loss.backward(retain_graph=True)\n",
            "        self.given = None\n",
        ),
        ("actor_loss_before_critics_step", "    critic_optimizer.zero_grad()\n", "    both.first = None\n"),
    ],
    ids=["in another method", "in the same block"],
)
def test_nothing_moves_past_what_sets_an_attribute_that_it_reads(name: str, old: str, new: str) -> None:
    text = (FIXTURES / "step-between-backwards" / f"{name}.before.py").read_text()
    assert text.count(old) == 1
    text = text.replace(old, old + new).replace("torch.min(one(both)", "torch.min(one(both.first)")
    (finding,) = check(Source.from_bytes(text.encode(), "a.py"), CheckOptions()).findings
    assert finding.code == "AD202"
    assert finding.fix is None or " right before " not in finding.fix.message


def test_what_moves_behind_a_step_sees_other_parameters() -> None:
    """What the next pass reads has other values then: the program raises today, and would have had the former ones."""
    text = """\
import torch
from torch import nn

torch.manual_seed(0)
maker, reader = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3)), nn.Linear(3, 3)
optimizers = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (maker, reader)]
made = torch.zeros(2, 3)
for x in torch.randn(5, 2, 3):
    new = maker(x)
    loss = (reader(x) * made).pow(2).mean()
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    optimizers[0].step()
    optimizers[1].step()
    made = new
print(loss.item())
"""
    (finding,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert (finding.code, finding.fix is not None) == ("AD302", True)
    assert finding.fix is not None
    assert "behind `optimizer" in finding.fix.message
    assert finding.fix.applicability is Applicability.UNSAFE


def test_who_writes_a_rule_is_told_why_a_repair_is_none() -> None:
    text = (FIXTURES / "carried-state" / "online_updates.before.py").read_text("utf-8")
    with told() as lines:
        result = check(Source.from_text(text, "a.py"), CheckOptions())
    assert any("the fault is still there" in line or "another" in line for line in lines)
    for finding in result.findings:
        if finding.fix is not None:
            assert any(f"{finding.fix.message}: proven" in line for line in lines)


@pytest.mark.parametrize("kept", ["losses", "{'losses': losses, 'day': day}"])
@pytest.mark.parametrize("later", [True, False])
def test_a_copy_of_a_list_is_unsafe_where_the_list_takes_more_later(kept: str, *, later: bool) -> None:
    adding = "    losses.append(losses[0] * 2)\n"
    storing = f"    history.append({kept})\n"
    text = f"""\
import torch
from torch import nn

net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
history = []
for day in range(12):
    losses = [net(torch.rand(2, 3)).mean()]
{storing + adding if later else adding + storing}\
    loss = torch.stack(losses).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    found = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    reasons = {f.fix.why_unsafe if f.fix is not None else "no fix" for f in found}
    assert ("a copy lacks what `losses` takes later" in reasons) is later
    assert later or reasons == {None}


GIVEN_ON = """\
import torch
from torch import nn

net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


def note(out, day):
    out["day"] = day


def show(out, day):
    print(out["loss"].item(), day)


class Days:
    def __init__(self):
        self.outs = []

    def step(self, day):
        loss = net(torch.rand(2, 3)).pow(2).mean()
        out = {{"loss": loss, "count": 2}}
        self.outs.append(out)
        {behind}
        return out


days = Days()
for day in range(12):
    result = days.step(day)
    optimizer.zero_grad()
    result["loss"].backward()
    optimizer.step()
    {later}
print(sum(out["count"] for out in days.outs))
"""


@pytest.mark.parametrize(
    ("behind", "later", "is_changed"),
    [
        ("pass", "pass", False),
        ("show(out, day)", "print(result)", False),
        ("note(out, day)", "pass", True),
        ("note(day=day, out=out)", "pass", True),
        ("pass", "result['day'] = day", True),
        ("pass", "note(result, day)", True),
        ("out['day'] = day", "pass", True),
    ],
)
def test_a_copy_lacks_what_others_put_into_the_dict(behind: str, later: str, *, is_changed: bool) -> None:
    text = GIVEN_ON.format(behind=behind, later=later)
    (found,) = check(Source.from_bytes(text.encode(), "program.py"), CheckOptions()).findings
    assert found.fix is not None
    assert found.fix.message == "store a detached copy of `out`"
    assert found.fix.why_unsafe == ("a copy lacks what `out` takes later" if is_changed else None)


NUMBER_OF_A_LIBRARY = """\
import math

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, is_plain):
        super().__init__()
        self.is_plain = is_plain
        self.layer = nn.Linear(4, 4)

    def fit(self, batches, optimizer):
        total = 0
        for batch in batches:
            output = self.layer(batch)
            extra = math.tau
            if not self.is_plain:
                extra = output.abs().mean()
            optimizer.zero_grad()
            output.pow(2).mean().backward()
            optimizer.step()
            total += extra
        return total
"""


def test_no_safe_repair_calls_a_method_of_tensors_on_a_number_of_a_library() -> None:
    (finding,) = check(Source.from_bytes(NUMBER_OF_A_LIBRARY.encode(), "program.py"), CheckOptions()).findings
    assert finding.fix is None or finding.fix.applicability is Applicability.UNSAFE
