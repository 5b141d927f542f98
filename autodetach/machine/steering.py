"""Where a test steers the training: how long it goes on, or what a branch does to an optimizer.

`.item()` makes a number of double precision, and a sum of these is another one in its last digits than the sum of the
tensors, by which such a test may go the other way. What the branches only save or print is left as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.children import walk
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.number_readers import ROUNDED, wanted
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.values import Sym
from autodetach.node_types import LOOPS, SCOPES

ENDING = (ast.Break, ast.Return, ast.Raise)
STEERING = frozenset({"_exit", "abort", "backward", "exit", "quit", "step"})
"""Calls that end a program, or train."""
SHOWING = frozenset("bar pbar profiler prof progress progressbar spinner ticker timer tqdm".split())
"""Words in the names of what has a `step()` that trains nothing."""
RATES = frozenset({"learning_rate", "lr"})


def tested(m: Core, value: Sym, site: Site) -> None:
    """The truth of what is computed from a sum is asked: whether that steers the training is noted."""
    if not (m.trail and ROUNDED in value.tags):
        return
    statement, frame = m.trail[-1]
    if not isinstance(statement, (ast.If, ast.While)) or not any(n is site.node for n in ast.walk(statement.test)):
        return
    function = frame.function.node if frame.function is not None else None
    around = function or next((at for at, there in m.trail if there is frame), statement)
    if is_steering(statement) or not _set_in(statement).isdisjoint(_ending(around)):
        wanted(m, [value], Site(site.node, site.scope), "test")


@kept
def is_steering(test: ast.If | ast.While) -> bool:
    """Whether the branches leave a loop or function, step an optimizer, or set its learning rate or a flag."""
    if isinstance(test, ast.While):
        return True
    own = frozenset(n for block in (test.body, test.orelse) for n in _leaving(block))
    return any(_steers(n) for n in _in_branches(test) if n in own or not isinstance(n, ENDING))


def _leaving(block: list[ast.stmt], loops: bool = True) -> Iterator[ast.stmt]:
    """What leaves the loop or function that a block stands in: not a `break` of a loop in it, nor a nested `return`."""
    for statement in block:
        if isinstance(statement, ENDING) and (loops or not isinstance(statement, ast.Break)):
            yield statement
        if isinstance(statement, SCOPES):
            continue
        is_loop = isinstance(statement, LOOPS)
        for holder in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(holder, name, None)
                if isinstance(inner, list):
                    yield from _leaving(inner, loops and not (is_loop and name == "body"))


def _steers(n: ast.AST) -> bool:
    if isinstance(n, ast.Call):
        return last_word(n.func) in STEERING and not _shows(n.func)
    if isinstance(n, ast.Assign):
        return isinstance(n.targets[0], ast.Attribute) and _is_flag(n.value)
    if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(n.ctx, ast.Store):
        key = n.slice if isinstance(n, ast.Subscript) else None
        return (key.value if isinstance(key, ast.Constant) else last_word(n)) in RATES
    return isinstance(n, ENDING)


def _shows(callee: ast.expr) -> bool:
    """`pbar.step()`, `self.profiler.step()`."""
    owner = last_word(callee.value) if isinstance(callee, ast.Attribute) else ""
    return not SHOWING.isdisjoint(owner.lower().split("_"))


@kept
def _set_in(test: ast.If | ast.While) -> frozenset[str]:
    """What the branches count, or set to a constant: `patience += 1`, `done = True`."""
    found = [n for n in _in_branches(test) if isinstance(n, (ast.Assign, ast.AugAssign))]
    found = [n for n in found if isinstance(n.value, ast.Constant)]
    targets = (t for n in found for t in (n.targets if isinstance(n, ast.Assign) else [n.target]))
    return frozenset(spelled(t) for t in targets if isinstance(t, (ast.Name, ast.Attribute)))


def _is_flag(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, bool)


@kept
def _ending(function: ast.AST) -> frozenset[str]:
    """What tests are asked for that steer the training, in a function or a statement; or that it returns."""
    nodes = list(walk(function))
    tests: list[ast.expr] = [n.test for n in nodes if isinstance(n, (ast.If, ast.While)) and is_steering(n)]
    tests += [n.value for n in nodes if isinstance(n, ast.Return) and isinstance(n.value, (ast.BoolOp, ast.Compare))]
    read = (n for test in tests for n in ast.walk(test) if isinstance(n, (ast.Name, ast.Attribute)))
    return frozenset(spelled(n) for n in read)


def _in_branches(test: ast.If | ast.While) -> Iterator[ast.AST]:
    for statement in (*test.body, *test.orelse):
        yield from walk(statement)
