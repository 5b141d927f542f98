"""What a file costs: programs made to be dear hit a budget and say so, and cost grows with length, not faster.

Cost is counted in the fuel of the machine, and in calls of Python functions where fuel might not tell; the one bound in
seconds is there for what neither counts.
"""

from __future__ import annotations

import ast
import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from calls import calls_of

from autodetach import fixing
from autodetach.checker import check
from autodetach.checks import CheckOptions, CheckResult
from autodetach.fixing import fix
from autodetach.machine import exploring, paths
from autodetach.machine.exploring import FUEL_PER_FILE, MAX_PATHS, analyse
from autodetach.machine.oracle import Policy
from autodetach.machine.project import Project
from autodetach.machine.run import Analysis, Run
from autodetach.machine.running import FUEL_PER_RUN, run_once
from autodetach.machine.state import FUEL_FOR_IMPORTS
from autodetach.machine.values import MAX_NESTING
from autodetach.proving import repairs
from autodetach.proving.repairs import FUEL_FOR_REPAIRS
from autodetach.source import Source

SECONDS = 12.0
"""Several times what any of these takes: a hang, not a slow machine."""
FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
HEAD = "import torch\nimport torch.nn as nn\n\n"
LEAF = HEAD + "w = torch.randn(3, requires_grad=True)\ntotal = 0\n"


def loops_in_loops(depth: int = 12) -> str:
    heads = "".join(f"{'    ' * n}for i{n} in range(100):\n" for n in range(depth))
    body = ("loss = (w * 2).pow(2).sum()", "total += loss", "kept.append(loss)", "loss.backward(retain_graph=True)")
    return LEAF + "kept = []\n" + heads + "".join(f"{'    ' * depth}{line}\n" for line in body)


def many_branches(count: int = 200) -> str:
    branches = "".join(
        f"        if a.f{n}:\n            loss = loss * {n}\n        else:\n            loss = loss + {n}\n"
        for n in range(count)
    )
    head = "def train(model, loader, a):\n    total = 0\n    for x in loader:\n        loss = model(x).mean()\n"
    return (
        HEAD + head + branches + "        loss.backward(retain_graph=True)\n        total += loss\n    return total\n"
    )


def recursion(count: int = 30) -> str:
    functions = "".join(
        f"def f{n}(x, d):\n    if d == 0:\n        return x\n"
        f"    return f{(n + 1) % count}(x, d - 1) + f{(n * 7 + 3) % count}(x * 2, d - 1)\n\n"
        for n in range(count)
    )
    return (
        LEAF + functions + "for k in range(10):\n    loss = f0(w, 20).sum()\n    loss.backward()\n    total += loss\n"
    )


def many_statements(count: int = 10_000) -> str:
    loop = "for k in range(10):\n    loss = (w * k).pow(2).sum()\n    loss.backward()\n    total += loss\n"
    return LEAF + loop + "".join(f"x{n} = w * {n} + {n}\n" for n in range(count))


def nested_calls(depth: int = 80) -> str:
    inner = "w"
    for n in range(depth):
        inner = f"torch.tanh({inner} * {n})"
    return LEAF + f"for k in range(10):\n    loss = {inner}.sum()\n    loss.backward()\n    total += loss\n"


def long_chain(count: int = 900) -> str:
    return LEAF + f"for k in range(10):\n    loss = w{'.mul(k)' * count}.sum()\n    total += loss\n"


def huge_literals(count: int = 40_000) -> str:
    data = f"data = [{', '.join(map(str, range(count)))}]\n"
    table = "table = {" + ", ".join(f"'k{n}': [{n}, {n}]" for n in range(count // 4)) + "}\n"
    loop = "for k in data:\n    loss = (w * k).pow(2).sum()\n    loss.backward()\n    total += loss\n"
    return LEAF + data + table + loop


def mutual_calls(count: int = 300) -> str:
    functions = "".join(
        f"def g{n}(x, a):\n    total = 0\n    for k in range(10):\n"
        f"        loss = g{(n + 1) % count}(x * k, a) + g{(n + 17) % count}(x, a)\n"
        f"        if a.c{n}:\n            loss.backward(retain_graph=True)\n        total += loss\n    return total\n\n"
        for n in range(count)
    )
    return LEAF + functions + "g0(w, None)\n"


def many_faults(count: int = 40) -> str:
    totals = "".join(f"    t{n} = 0\n" for n in range(count))
    body = "".join(
        f"        loss{n} = model(x).pow({n}).mean()\n        if a.k{n}:\n            loss{n} = loss{n} * 2\n"
        f"        loss{n}.backward()\n        t{n} += loss{n}\n"
        for n in range(count)
    )
    returned = ", ".join(f"t{n}" for n in range(count))
    return HEAD + "def run(model, loader, a):\n" + totals + "    for x in loader:\n" + body + f"    return {returned}\n"


def many_stores(count: int = 200) -> str:
    body = "".join(f"    kept.append(loss * {n})\n" for n in range(count))
    return LEAF + "kept = []\nfor x in range(1000):\n    loss = (w * x).mean()\n" + body + "    loss.backward()\n"


def walks_in_a_test(count: int = 300) -> str:
    walks = " or ".join(f"(loss > {n} and total.backward())" for n in range(count))
    return LEAF + f"for x in range(50):\n    loss = (w * x).mean()\n    total = total + loss\n    print({walks})\n"


def many_states(count: int = 300) -> str:
    begin = "".join(f"h{n} = torch.zeros(3)\n" for n in range(count))
    steps = "".join(f"    h{n} = torch.tanh(w * x + h{n})\n" for n in range(count))
    return LEAF + begin + "for x in range(50):\n" + steps + "    loss = h0.sum()\n    loss.backward()\n"


def many_cases(count: int = 200) -> str:
    case = "        case {n}:\n            total += loss\n            loss.backward()\n"
    cases = "".join(case.format(n=n) for n in range(count))
    loop = "for x in range(50):\n    loss = (w * x).mean()\n    match len(sys.argv):\n"
    return LEAF + "import sys\n" + loop + cases + "print(float(total))\n"


def library(count: int) -> str:
    """A file of `count` functions and classes, and one training loop that keeps its losses."""
    unit = (
        "def helper_{n}(x, y, scale=1.0):\n    value = (x + y) * scale / {n}.5\n    return {{'value': value}}\n\n"
        "class Layer_{n}(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
        "        self.linear = nn.Linear(width, width)\n\n    def forward(self, x):\n"
        "        return torch.tanh(self.linear(x))\n\n"
    )
    loop = (
        "def train(model, loader, optimizer):\n    total = 0.0\n    for x, y in loader:\n"
        "        loss = (model(x) - y).pow(2).mean()\n        optimizer.zero_grad()\n        loss.backward()\n"
        "        optimizer.step()\n        total += loss\n    return total\n"
    )
    return HEAD + "".join(unit.format(n=n) for n in range(count)) + loop


class Meter:
    """The fuel that all runs of a check take."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fuel = 0
        first = run_once

        def metered(
            tree: ast.Module,
            policy: Policy,
            fuel: int,
            watch: None = None,
            project: Project | None = None,
            evidence: None = None,
            *,
            watched: bool = False,
            called: frozenset[str] = frozenset(),
        ) -> Run:
            done = first(tree, policy, fuel, watch, project, evidence, watched=watched, called=called)
            self.fuel += done.cost
            return done

        monkeypatch.setattr(paths, "run_once", metered)


def checked(text: str) -> CheckResult:
    return check(Source.from_bytes(text.encode(), "x.py"), CheckOptions())


DEAR: dict[str, tuple[Callable[[], str], bool]] = {
    "loops in loops": (loops_in_loops, True),
    "many branches": (many_branches, False),
    "recursion": (recursion, True),
    "many statements": (many_statements, True),
    "nested calls": (nested_calls, False),
    "long chain": (long_chain, False),
    "huge literals": (huge_literals, False),
    "mutual calls": (mutual_calls, True),
    "many faults": (many_faults, True),
    "many stores": (many_stores, False),
    "walks in a test": (walks_in_a_test, True),
    "many states": (many_states, True),
    "many cases": (many_cases, False),
}


@pytest.mark.parametrize("name", DEAR)
def test_a_dear_program_is_bounded_and_says_so(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write, partial = DEAR[name]
    text = write()
    meter = Meter(monkeypatch)
    started = time.process_time()
    result = checked(text)
    assert time.process_time() - started < SECONDS
    # The last path and the last repair are begun with what is left, and a repair is tried on all paths.
    assert meter.fuel <= FUEL_PER_FILE + FUEL_PER_RUN + FUEL_FOR_REPAIRS + FUEL_PER_FILE
    assert [problem.partial for problem in result.problems] == ([True] if partial else [])


def test_what_is_cut_short_gets_no_repairs_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    meter = Meter(monkeypatch)
    result = checked(loops_in_loops())
    assert meter.fuel <= FUEL_PER_RUN + 1
    assert result.findings and all(finding.fix is None for finding in result.findings)


def test_without_a_budget_more_repairs_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    text = many_faults(12)
    monkeypatch.setattr(repairs, "FUEL_FOR_REPAIRS", 4_000)
    few = checked(text)
    monkeypatch.setattr(repairs, "FUEL_FOR_REPAIRS", 1_000_000)
    all_ = checked(text)
    assert [finding.message for finding in few.findings] == [finding.message for finding in all_.findings]
    assert sum(finding.fix is not None for finding in few.findings) < sum(f.fix is not None for f in all_.findings)
    assert "not all repairs were tried" in few.problems[0].message and not all_.problems


def test_fixing_ends_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source.from_bytes(many_faults(4).encode(), "x.py")
    whole = fix(source, CheckOptions(), unsafe=True)
    one = check(source, CheckOptions()).cost
    monkeypatch.setattr(fixing, "FUEL_FOR_FIXING", one)
    meter = Meter(monkeypatch)
    some = fix(source, CheckOptions(), unsafe=True)
    assert 0 < len(some.applied) < len(whole.applied)
    assert meter.fuel <= 2 * one + FUEL_FOR_REPAIRS
    assert "not all fixes were applied" in some.problems[-1].message and not whole.problems


def test_fuel_grows_with_length() -> None:
    costs = [sum(done.cost for done in analyse(ast.parse(library(count))).runs) for count in (100, 200, 400)]
    assert costs[1] < 2.2 * costs[0]
    assert costs[2] < 2.2 * costs[1]


@pytest.mark.parametrize("write", [many_stores, library, many_branches, nested_calls, long_chain])
def test_calls_grow_with_length(write: Callable[[int], str]) -> None:
    """What is done once for each pair of things is not seen in the fuel."""

    def calls(count: int) -> int:
        tree = ast.parse(write(count))
        return calls_of(lambda: run_once(tree, Policy(), FUEL_PER_RUN))

    once, twice = calls(30), calls(60)
    assert twice < 2.2 * once


def test_imported_files_have_a_budget_for_all_paths() -> None:
    """A dear import is run on a few paths only."""
    from autodetach.projects.project import Files

    class Finder:
        def find(self, name: str, importer: str) -> str | None:
            return "/other.py" if name == "other" else None

        def read(self, path: str) -> Source:
            body = "".join(f"x{n} = [{n}, {n} + 1]\n" for n in range(20_000))
            return Source.from_bytes((body + "y = 1\n").encode(), path)

        def peek(self, path: str) -> bytes | None:
            return self.read(path).raw

    tests = "".join(f"    if a.f{n}:\n        h = h * {n}\n" for n in range(40))
    text = f"import torch\nfrom other import y\n\ndef f(a, h):\n    h = h * y\n{tests}    for k in range(3):\n"
    text += "        h.backward()\n"
    tree = ast.parse(text)
    files = Files("/x.py", Source.from_bytes(text.encode(), "/x.py"), tree, Finder())
    runs = analyse(tree, files).runs
    assert len(analyse(tree).runs) == MAX_PATHS
    assert len(runs) == -(-exploring.FUEL_FOR_IMPORTS_PER_FILE // FUEL_FOR_IMPORTS)


def many_tests(fault: str) -> str:
    """A function of forty tests in a loop, which costs something."""
    tests = "".join(f"        if a.f{n}:\n            h = h * {n}\n        h = g(h, {n})\n" for n in range(40))
    work = "".join(f"    x = x + {n} * k\n" for n in range(20))
    return (
        f"import torch\n\ndef g(x, k):\n{work}    return x\n\n"
        f"def f(a, h, w=torch.ones(1, requires_grad=True)):\n    for k in range(3):\n{tests}{fault}    return h\n"
    )


def test_few_other_paths_are_run_where_nothing_is_suspected() -> None:
    most = exploring.FUEL_WHERE_TRAINING
    tree = ast.parse(many_tests("        (w * w).backward()\n"))
    some = analyse(tree, suspected=lambda analysis: False).runs
    every = analyse(tree, suspected=lambda analysis: True).runs
    assert most < sum(one.cost for one in some[1:]) < most + some[1].cost
    assert len(some) < len(every) == len(analyse(tree).runs)


def test_no_other_path_is_begun_that_would_cost_too_much_where_nothing_is_differentiated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = ast.parse(many_tests(""))
    every = analyse(tree, suspected=lambda analysis: True).runs
    first = every[0].cost
    for most in (first - 1, first, 3 * first):
        monkeypatch.setattr(exploring, "FUEL_WHERE_QUIET", most)
        some = analyse(tree, suspected=lambda analysis: False).runs
        spent = sum(one.cost for one in some[1:])
        assert spent <= most < spent + first
        assert len(some) < len(every)


def test_all_paths_are_run_where_something_is_suspected(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    whole = exploring.analyse

    def noted(*arguments: Any, suspected: Callable[[Analysis], bool], **named: Any) -> Analysis:
        def suspects(analysis: Analysis) -> bool:
            asked.append(suspected(analysis))
            return asked[-1]

        return whole(*arguments, suspected=suspects, **named)

    monkeypatch.setattr(exploring, "analyse", noted)
    once, twice = "        (w * w).backward()\n", "        y = w * w\n        y.backward()\n        y.backward()\n"
    for fault in (once, twice):
        check(Source.from_text(many_tests(fault), "a.py"), CheckOptions(fixes=False))
    assert asked == [False, True]


@pytest.mark.parametrize("name", ["lists_of_a_policy", "memory_of_segments", "named_belief"])
def test_little_is_left_for_the_collector(name: str) -> None:
    """To look for what lies in cycles takes a third of the time of the check that has left it."""
    source = Source.from_bytes((FIXTURES / "carried-state" / f"{name}.before.py").read_bytes(), "a.py")
    check(source, CheckOptions())
    gc.collect()
    assert check(source, CheckOptions()).findings
    assert gc.collect() < 1000, "see machine.run.dissolve"


def test_what_is_made_of_itself_twice_does_not_double() -> None:
    """`x + k * (m - x)`, the noise of many a policy: what it is told apart by would be twice as large in every pass."""
    text = (
        "import random\n\nx, k, m = random.random(), random.random(), random.random()\n"
        "for epoch in open('a'):\n    for step in open('b'):\n        for part in range(2):\n"
        "            x = x + k * (m - x)\n"
    )
    machine = run_once(ast.parse(text), Policy(), FUEL_PER_RUN).machine
    assert max(sym.nesting for sym in machine._syms.values()) < 2 * MAX_NESTING
