"""A graph may be walked again in a branch that no pass has come to: where a count ends later, nothing is told."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """
import torch
from torch import nn

def walk(loss):
    loss.backward(retain_graph=True)

def regularise(out):
    (0.1 * out.abs().mean()).backward()

def by_another(out):
    regularise(out)

def if_told(out, now):
    if now:
        (0.1 * out.abs().mean()).backward()

left = [4]
def if_it_is_time(out):
    left[0] -= 1
    if left[0] > 0:
        return
    (0.1 * out.abs().mean()).backward()

class Clock:
    def __init__(self):
        self.left = 4

    def tick(self):
        self.left -= 1
        return self.left == 0

    def is_set(self):
        return self.is_on

    is_on = False

class Penalty(Clock):
    def __call__(self, out):
        if self.tick():
            (0.1 * out.abs().mean()).backward()

class Resting:
    def run(self, out):
        pass

class Walking(Resting):
    def run(self, out):
        (0.1 * out.abs().mean()).backward()

class AllOf:
    def rest(self, out):
        pass

    def walk(self, out):
        (0.1 * out.abs().mean()).backward()

REGISTERED = []
def register(job):
    REGISTERED.append(job)
    return job

def train(out):
    (0.1 * out.abs().mean()).backward()

def ticks():
    waits = 4
    while True:
        waits -= 1
        yield waits == 0

def main():
    n = 4
    flag = False
    {begin}
    clock, ticking, waits = Clock(), ticks(), [False, False, False, True] * 3
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(12):
        out = net(torch.randn(6, 4))
        optimizer.zero_grad()
        {walk}
        {block}
        optimizer.step()

main()
"""
HANDED_ON = """
    from concurrent.futures import ThreadPoolExecutor
    from functools import partial
    jobs, table, pool, all_of = [], {0: regularise}, ThreadPoolExecutor(1), AllOf()
"""
AGAIN = "(0.1 * out.abs().mean()).backward()"
WALK = "out.pow(2).mean().backward(retain_graph=True)"


def repairs(block: list[str], walk: str = WALK, begin: str = "") -> list[tuple[str, str | None]]:
    text = PROGRAM.format(walk=walk, begin=begin, block="\n        ".join(block))
    found = check(Source.from_text(text, "counted.py"), CheckOptions()).findings
    return [(f.code, f.fix and f.fix.applicability.value) for f in found]


LATER = [
    ["n -= 1", "if n == 0:", f"    {AGAIN}"],
    ["n -= 1", "if n == 0:", "    regularise(out)"],
    ["n -= 1", "if n == 0:", "    by_another(out)"],
    ["n -= 1", "while n == 0:", f"    {AGAIN}", "    n = 4"],
    ["n -= 1", "for _ in range(n == 0):", f"    {AGAIN}"],
    ["n -= 1", f"{AGAIN} if n == 0 else None"],
    ["n -= 1", f"n == 0 and {AGAIN}"],
    ["n -= 1", f"[{AGAIN} for _ in range(n == 0)]"],
    ["n -= 1", "match n:", "    case 0:", f"        {AGAIN}"],
    ["n -= 1", "is_over = n == 0", "if is_over:", f"    {AGAIN}"],
    ["n -= 1", "if_told(out, n == 0)"],
    ["n -= 1", "if_told(out, now=n == 0)"],
    ["if_it_is_time(out)"],
    ["if clock.tick():", f"    {AGAIN}"],
    ["if next(ticking):", f"    {AGAIN}"],
    ["if waits.pop(0):", f"    {AGAIN}"],
]


@pytest.mark.parametrize("block", LATER, ids=" ".join)
def test_nothing_is_told_where_a_test_may_change(block: list[str]) -> None:
    assert repairs(block) == []


@pytest.mark.parametrize(
    "tick",
    [
        'setattr(box, "due", box.due - 1)',
        'object.__setattr__(box, "due", box.due - 1)',
        "vars(box).update(due=box.due - 1)",
        'box.__dict__.update({"due": box.due - 1})',
        'vars(box)["due"] = box.due - 1',
    ],
)
def test_nor_where_an_attribute_is_set_by_its_name(tick: str) -> None:
    begin = "box = Clock()\n    box.due = 4"
    assert repairs([tick, "if box.due == 0:", f"    {AGAIN}"], begin=begin) == []


@pytest.mark.parametrize(
    ("start", "later", "asked"),
    [
        ("4", "left - 1", "due"),
        ('{"due": 4}', '{**left, "due": left["due"] - 1}', 'left["due"]'),
        ('{"due": 4}', 'dict(left, due=left["due"] - 1)', 'left["due"]'),
        ('{"due": 4}', "ticked(left)", 'left["due"]'),
    ],
)
def test_nor_where_a_function_calls_itself_with_another_count(start: str, later: str, asked: str) -> None:
    text = f"""
import torch

net = torch.nn.Linear(4, 2)

def ticked(state):
    return {{**state, "left": state["left"] - 1}}

def train(left, xs):
    if not xs:
        return
    out = net(xs[0])
    out.pow(2).mean().backward(retain_graph=True)
    if {asked} == 0:
        out.abs().mean().backward()
    train({later}, xs[1:])

train({start}, [torch.randn(6, 4) for _ in range(40)])
"""
    assert check(Source.from_text(text, "again.py"), CheckOptions()).findings == ()


def test_nor_where_it_gives_another_count_to_who_calls_it() -> None:
    text = """
from functools import reduce
import torch

net = torch.nn.Linear(4, 2)

def train(state, x):
    out = net(x)
    out.pow(2).mean().backward(retain_graph=True)
    if state["left"] == 0:
        out.abs().mean().backward()
    return {**state, "left": state["left"] - 1}

reduce(train, [torch.randn(6, 4) for _ in range(40)], {"left": 4})
"""
    assert check(Source.from_text(text, "reduced.py"), CheckOptions()).findings == ()


@pytest.mark.parametrize(
    ("begin", "asked"),
    [
        ('told = {**{"on": True}, "on": False}', 'told["on"]'),
        ('told = dict({"on": True}, on=not torch.is_grad_enabled())', 'told["on"]'),
        ('setattr(Clock, "told", False)', "Clock.told"),
    ],
)
def test_a_setting_that_is_made_once_stays(begin: str, asked: str) -> None:
    assert repairs([f"if {asked}:", f"    {AGAIN}"], begin=begin) == [("AD103", "unsafe")]


def test_nor_where_an_object_is_called() -> None:
    assert repairs(["penalty(out)"], begin="penalty = Penalty()") == []


def test_nor_where_a_lambda_walks_it() -> None:
    begin = f"unnamed = lambda out: {AGAIN}"
    assert repairs(["n -= 1", "act = unnamed if n == 0 else print", "act(out)"], begin=begin) == []


def test_nor_where_the_caller_walks_it() -> None:
    assert repairs(LATER[0], "walk(out.pow(2).mean())") == []


@pytest.mark.parametrize(
    "block",
    [
        ["if flag:", f"    {AGAIN}"],
        ["if flag:", "    regularise(out)"],
        ["if_told(out, flag)"],
        ["if clock.is_set():", f"    {AGAIN}"],
    ],
    ids=" ".join,
)
def test_where_a_switch_is_off_the_repair_is_unsafe(block: list[str]) -> None:
    assert repairs(block) == [("AD103", "unsafe")]


@pytest.mark.parametrize("block", [["n -= 1"], ["n -= 1", "if n == 0:", "    main()"]], ids=" ".join)
def test_what_computes_its_own_graph_is_none(block: list[str]) -> None:
    assert repairs(block) == [("AD103", "safe")]


def test_whether_something_is_a_tensor_does_not_change() -> None:
    begin = "shown = 0.0"
    block = ["shown += float(out.sum())", "if torch.is_tensor(shown) and shown.requires_grad:", "    walk(shown)"]
    assert repairs(block, begin=begin) == [("AD103", "unsafe")]


@pytest.mark.parametrize(
    "block",
    [
        ["act = regularise if n == 0 else print", "act(out)"],
        ["if n == 0:", "    act = regularise", "    act(out)"],
        ["if n == 0:", "    jobs.append(regularise)", "for job in jobs:", "    job(out)"],
        ["if n in table:", "    table[n](out)"],
        ["table.get(n, print)(out)"],
        ["if n == 0:", "    list(map(regularise, [out]))"],
        ["work = [partial(regularise, out)] if n == 0 else []", "for job in work:", "    job()"],
        ["if n == 0:", "    pool.submit(regularise, out).result()"],
        ["act = by_another if n == 0 else print", "act(out)"],
        ["act = all_of.walk if n == 0 else print", "act(out)"],
        ['act = getattr(all_of, "walk" if n == 0 else "rest")', "act(out)"],
        ['act = globals()["regularise" if n == 0 else "print"]', "act(out)"],
        ["job = Walking() if n == 0 else Resting()", "job.run(out)"],
    ],
    ids=" ".join,
)
def test_nor_where_no_name_tells_what_is_called(block: list[str]) -> None:
    assert repairs(["n -= 1", *block], begin=HANDED_ON) == []


@pytest.mark.parametrize(
    ("block", "begin"),
    [
        (["table[kind](out)"], "kind, table = 3, {3: print, 4: regularise}"),
        (["plan[step].run(out)"], "plan = [Resting()] * 6 + [Walking()] * 6"),
    ],
    ids=str,
)
def test_where_nothing_tells_when_that_is_called_the_repair_is_unsafe(block: list[str], begin: str) -> None:
    assert repairs(block, begin=begin) == [("AD103", "unsafe")]


def test_so_it_is_where_a_decorator_has_put_it_somewhere() -> None:
    registered = f"@register\ndef registered(out):\n    {AGAIN}\n\n"
    text = PROGRAM.replace("def main", f"{registered}def main")
    block = "for job in REGISTERED[5:]: job(out)"
    text = text.format(walk=WALK, begin="", block=block)
    found = check(Source.from_text(text, "registered.py"), CheckOptions()).findings
    assert [(f.code, f.fix and f.fix.applicability.value) for f in found] == [("AD103", "unsafe")]


def test_what_is_called_by_the_name_of_a_function_may_be_something_else() -> None:
    assert repairs(["net.train()"]) == [("AD103", "safe")]


def test_a_method_is_nothing_that_a_variable_has_the_name_of() -> None:
    text = PROGRAM.replace("def main", f"class Trainer:\n    def step(self, out):\n        {AGAIN}\n\ndef main")
    found = check(Source.from_text(text.format(walk=WALK, begin="", block="print(step)"), "step.py"), CheckOptions())
    assert [(f.code, f.fix and f.fix.applicability.value) for f in found.findings] == [("AD103", "safe")]


def test_a_lambda_that_a_path_calls_is_seen() -> None:
    assert repairs([f"(lambda out: {AGAIN})(net(torch.zeros(6, 4)))"]) == [("AD103", "safe")]


def test_what_a_function_before_it_returns_by_leaves_no_module() -> None:
    text = """
import torch

class Kept:
    def __init__(self):
        self.n = 3

    def ended(self):
        if self.n == 0:
            return True
        self.n -= 1
        return False

net = torch.nn.Linear(2, 1)
for _ in range(5):
    out = net(torch.rand(3, 2)).sum()
    out.backward(retain_graph=True)
flag = False
if flag:
    out.backward()
"""
    (found,) = check(Source.from_text(text, "a.py"), CheckOptions()).findings
    assert (found.code, found.is_unsafe) == ("AD103", True)


def test_what_ends_a_loop_before_it_leaves_no_module() -> None:
    text = """
import torch

net = torch.nn.Linear(2, 1)
step = 0
for x in torch.rand(5, 3, 2):
    step += 1
    out = net(x).sum()
    out.backward(retain_graph=True)
    if step > 4:
        break
flag = False
if flag:
    out.backward()
"""
    (found,) = check(Source.from_text(text, "a.py"), CheckOptions()).findings
    assert (found.code, found.is_unsafe) == ("AD103", True)
