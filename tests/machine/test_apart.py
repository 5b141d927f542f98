"""A helper run again by itself shows what a whole run of that path shows, and is not run so where others notice."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine import entries, running
from autodetach.machine.apart import PER_ENTRY, Apart, Spoilt
from autodetach.machine.exploring import analyse, variants
from autodetach.machine.heap import Heap
from autodetach.machine.interpreter import Machine
from autodetach.machine.oracle import Policy
from autodetach.machine.paths import Paths
from autodetach.machine.run import Run
from autodetach.machine.running import FUEL_PER_RUN, run_once

HEAD = """\
import math
import torch
import torch.nn as nn

table = {}
names = []
mode = "a"
size = unknown()


def train(model, loader, optimizer, path):
    total = 0
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        total += loss
    return total


def other(rows):
    for row in rows:
        if row.ready:
            n = row.x
"""
HELPER = """

def helper(rows, table_):
    width = 0
    for row in rows:
        if row.wide:
            width = max(width, row.width)
        else:
            width += 1
    return width
"""


def helper(body: str, after: str = "") -> str:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return f"{HEAD}\n\ndef helper(rows, a):\n    global mode\n    for row in rows:\n{lines}{after}"


READS_MODE = """

def reader(model, loader):
    for x in loader:
        loss = model(x).mean()
        if mode == "a":
            loss.backward()
"""
LATER = """

def later(rows):
    for x in rows:
        x.y
"""
READS_SIZE = """

def reader(xs):
    for x in xs:
        if size > 3:
            x.y
"""
TRACES = {
    "a global name": ('mode = "b"', READS_MODE),
    "a global dict": ("table[row.name] = row", ""),
    "a global list": ("names.append(row)", ""),
    "a function that is called": ("later(row)", LATER),
    "a test of what others test": ("row.a if size > 3 else row.b", READS_SIZE),
    "an assertion about what others test": ("assert size > 3", READS_SIZE),
}
STEPS = """

def later(optimizer, rows):
    for row in rows:
        optimizer.step()
"""
TOLD = {
    "gradient that others may look for": ("(torch.randn(3, requires_grad=True) * 2).sum().backward()", STEPS),
    "an argument that escapes": ("save(torch.ones(3, requires_grad=True) * 2)", ""),
    "graph": ("(torch.randn(3, requires_grad=True) * 2).sum().backward()", ""),
    "a fault": ("None.x", ""),
    "the gradient of all leaves": ("torch.optim.SGD(unknown(), lr=0.1).zero_grad()", ""),
}
EITHER = ("if row.wide:\n    {}", "if row.wide:\n    row.x\nelse:\n    {}")
NOTICED = {
    f"{name}, {('first', 'then')[n]}": helper(way.format(body), after)
    for name, (body, after) in {**TRACES, **TOLD}.items()
    for n, way in enumerate(EITHER)
}
CALLS_SHARED = """

def one(rows):
    for row in rows:
        shared(row)


def two(rows):
    for row in rows:
        shared(row)


def shared(row):
    if row.wide:
        row.x()
"""
NODELESS = """
mode = None


def one(rows):
    for row in rows:
        row


def two(rows):
    for row in rows:
        row


def helper(rows):
    for row in rows:
        if row.wide:
            torch.randn(3, requires_grad=True)


class Later:
    def show(self):
        for x in range(3):
            x
"""
NOTICED["whether there is any graph"] = "import torch\n" + NODELESS
NOTICED["a test in what others call"] = HEAD + CALLS_SHARED


def shown(of: Run) -> dict[str, object]:
    """All that is asked of a run, with nodes by their numbers."""
    machine = of.machine
    return {
        "nodes": [
            (n.number, n.op, n.site.node, [p.number for p in n.parents], n.weak, [d.number for d in n.walked_by])
            for n in machine.nodes
        ],
        "walks": [(d.number, d.call, d.raised, [n.number for n in d.walked]) for d in machine.differentiations],
        "steps": [(s.clock, s.what, s.site.node, [leaf.number for leaf, _ in s.consumed]) for s in machine.steps],
        "stored": [(e.site.node, e.clock, e.node.number, sorted(e.held)) for e in machine.stored],
        "escapes": [(e.site.node, e.how, [n.number for n in e.nodes]) for e in machine.escapes],
        "faults": [(f.site.node, f.text, f.kind) for f in machine.type_faults],
        "facts": [type(fact) for fact in machine.facts],
        "tests": [(d.key, d.relevant, d.outcomes) for d in machine.oracle.decisions.values()],
        "visits": dict(machine.oracle.visits),
        "rest": (of.cost, of.finished, of.stopped_by, of.entries, machine.import_fuel, len(machine.activations)),
    }


@pytest.fixture(autouse=True)
def all_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Helpers that have to do with no history are run too: it is the keeping apart that is looked at."""
    monkeypatch.setattr(entries, "is_bystander", lambda *_: False)
    monkeypatch.setattr(running, "MIN_ENTRIES", 0)


def paths_of(text: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tests whose other way was run by itself; what that shows is compared."""
    tree = ast.parse(text)
    paths = Paths(tree, None, None)
    default = paths.run(Policy(), FUEL_PER_RUN)
    alone: list[str] = []
    whole = run_once

    def counted(*arguments: object, **named: object) -> Run:
        alone.pop()
        return whole(*arguments, **named)  # type: ignore[arg-type]

    for policy in variants(default):
        ((key, how),) = policy.flips
        alone.append(key[1] if how == "other" else "")
        with monkeypatch.context() as patch:
            patch.setattr("autodetach.machine.paths.run_once", counted)
            try:
                found = paths.run(policy, FUEL_PER_RUN)
            except Spoilt:
                alone.pop()
                return alone
        assert shown(found) == shown(whole(tree, policy, FUEL_PER_RUN, called=default.called)), policy
    assert shown(default) == shown(whole(tree, Policy(), FUEL_PER_RUN))
    return alone


def test_a_helper_that_leaves_no_trace_is_run_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = paths_of(HEAD + HELPER, monkeypatch)
    assert "row.wide" in alone


@pytest.mark.parametrize("name", NOTICED)
def test_a_helper_that_others_may_notice_is_not(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, told = NOTICED[name], name.partition(",")[0] in TOLD
    alone = paths_of(text, monkeypatch)
    assert told or "row.wide" not in alone


def test_what_was_spoilt_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = ast.parse(NOTICED["a global list, then"])
    spoilt: list[Policy] = []
    other = Apart.other

    def noted(self: Apart, policy: Policy, fuel: int) -> Machine | None:
        try:
            return other(self, policy, fuel)
        except Spoilt:
            spoilt.append(policy)
            raise

    monkeypatch.setattr(Apart, "other", noted)
    found = analyse(tree)
    monkeypatch.setattr(running, "MIN_ENTRIES", 1000)
    assert [shown(one) for one in found.runs] == [shown(one) for one in analyse(tree).runs]
    assert len(found.runs[0].machine.globals.names["names"].items) <= 3


def test_many_entries_are_compared_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else all that can be reached is looked at once for each of them."""
    values = 0
    is_same = Heap.is_same

    def counted(self: Heap) -> bool:
        nonlocal values
        values += self.size
        return is_same(self)

    monkeypatch.setattr(Heap, "is_same", counted)
    text = HEAD + "".join(HELPER.replace("helper", f"helper{n}") for n in range(600))
    watched = run_once(ast.parse(text), Policy(), 10 * FUEL_PER_RUN, watched=True)
    assert len(watched.entries) > 600
    assert values <= PER_ENTRY * len(watched.entries) + 20_000
