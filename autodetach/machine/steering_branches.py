"""What a statement does, by its text, that steers the training: it leaves a loop, trains, or sets a rate or a flag.

And what tests are asked for that lead there: a name that tells how another test went may be read by one of these.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.kept import kept
from autodetach.machine.children import blocks_of, nodes_in, targets_of, walk
from autodetach.machine.spelling import last_word, spelled
from autodetach.node_types import LOOPS, SCOPES

NAMES = (ast.Name, ast.Attribute, ast.Subscript)
Loop = ast.For | ast.AsyncFor | ast.While
Test = ast.If | ast.While | ast.Match
TESTS = (ast.If, ast.While, ast.Match)
ENDING = (ast.Break, ast.Return, ast.Raise)
OF_LOOPS = (ast.Break, ast.Continue)
STEERING = frozenset({"_exit", "abort", "backward", "exit", "load_state_dict", "quit", "step"})
"""Calls that end a program, or train, or go back to other weights."""
SHOWING = frozenset("bar pbar profiler prof progress progressbar spinner ticker timer tqdm".split())
"""Words in the names of what has a `step()` that trains nothing."""
RATES = frozenset({"base_lrs", "betas", "learning_rate", "lr", "momentum", "weight_decay"})


@kept
def is_steering(test: Test) -> bool:
    """Whether the branches leave a loop or function, step an optimizer, or set its learning rate or a flag."""
    if isinstance(test, ast.While):
        return True
    own = frozenset(n for block in blocks_of(test) for n in _leaving(block))
    return any(steers(n) for n in in_branches(test) if n in own or not isinstance(n, ENDING))


def counts_or_tells(value: ast.expr) -> bool:
    """`0`, `True`, `stale + 1`: what tells how a test went, and is no value of its own."""
    if isinstance(value, ast.Tuple):
        return any(map(counts_or_tells, value.elts))
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub)):
        sides = (value.left, value.right)
        return any(isinstance(n, ast.Constant) for n in sides) and any(isinstance(n, NAMES) for n in sides)
    return isinstance(value, ast.Constant)


@kept
def _skipping(loop: Loop) -> frozenset[ast.stmt]:
    """Each `continue` of a loop that leaves out what steers the training, as the step further down."""
    calls = (n for statement in loop.body for n in walk(statement) if isinstance(n, ast.Call) and steers(n))
    last = max((n.lineno for n in calls), default=0)
    return frozenset(n for n in _leaving(loop.body) if isinstance(n, ast.Continue) and n.lineno < last)


def skips(test: Test, loop: Loop) -> bool:
    return not isinstance(test, ast.While) and not _skipping(loop).isdisjoint(in_branches(test))


def _leaving(block: list[ast.stmt], loops: bool = True) -> Iterator[ast.stmt]:
    """What leaves the loop or function that a block stands in: not a `break` of a loop in it, nor a nested `return`."""
    for statement in block:
        if isinstance(statement, (ast.Return, ast.Raise, *(OF_LOOPS if loops else ()))):
            yield statement
        if isinstance(statement, SCOPES):
            continue
        is_loop = isinstance(statement, LOOPS)
        for holder in (statement, *getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(holder, name, None)
                if isinstance(inner, list):
                    yield from _leaving(inner, loops and not (is_loop and name == "body"))


def steers(n: ast.AST) -> bool:
    if isinstance(n, ast.Call):
        return (last_word(n.func) in STEERING and not shows(n.func)) or _updates_rates(n)
    if isinstance(n, ast.Assign):
        return isinstance(n.targets[0], ast.Attribute) and _is_flag(n.value)
    return is_rate(n) or isinstance(n, ENDING)


def is_rate(n: ast.AST) -> bool:
    """`lr = ...`, `self.lr = ...`, `group["lr"] = ...`."""
    if not (isinstance(n, NAMES) and isinstance(n.ctx, ast.Store)):
        return False
    key = n.slice if isinstance(n, ast.Subscript) else None
    return (key.value if isinstance(key, ast.Constant) else last_word(n)) in RATES


def _updates_rates(n: ast.Call) -> bool:
    """`optimizer.param_groups[0].update(lr=...)`, but not what is told to a meter."""
    if not (isinstance(n.func, ast.Attribute) and n.func.attr == "update" and "group" in spelled(n.func.value)):
        return False
    return any(k.arg in RATES for k in n.keywords)


def shows(callee: ast.expr) -> bool:
    """`pbar.step()`, `self.profiler.step()`."""
    owner = last_word(callee.value) if isinstance(callee, ast.Attribute) else ""
    return not SHOWING.isdisjoint(owner.lower().split("_"))


@kept
def counted_in(test: Test) -> frozenset[str]:
    """What the branches count, or set to a constant: `patience += 1`, `done = True`."""
    found = [n for n in in_branches(test) if isinstance(n, (ast.Assign, ast.AugAssign))]
    pairs = (pair for n in found for target in targets_of(n) for pair in _pairs(target, n.value))
    return frozenset(spelled(t) for t, value in pairs if isinstance(t, NAMES) and counts_or_tells(value))


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """`best, stale = loss, 0`: each target with its value."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _is_flag(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, bool)


@kept
def asked_by_steering(function: ast.AST) -> frozenset[str]:
    """What tests are asked for that steer the training, in a function or a statement, or that it returns; or a rate.

    Or by which something is picked that is called: `modes[mode]()`.
    """
    nodes = list(walk(function))
    tests = [tested_by(n) for n in nodes if isinstance(n, TESTS) and is_steering(n)]
    tests += [n.func.slice for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Subscript)]
    loops = [n for n in nodes if isinstance(n, LOOPS)]
    tests += [n.test for loop in loops for n in walk(loop) if isinstance(n, ast.If) and skips(n, loop)]
    tests += [n.value for n in nodes if isinstance(n, ast.Return) and isinstance(n.value, (ast.BoolOp, ast.Compare))]
    rates = (n for n in nodes if isinstance(n, (ast.Assign, ast.AugAssign)) and any(map(is_rate, targets_of(n))))
    makers = [n for n in nodes if isinstance(n, ast.Call) and last_word(n.func)[:1].isupper()]  # `SGD(..., lr=rate)`
    given = [k.value for call in makers for k in call.keywords if k.arg in RATES]
    return read_in([*tests, *(n.value for n in rates), *given])


def tested_by(test: Test) -> ast.expr:
    return test.subject if isinstance(test, ast.Match) else test.test


@kept
def called_in(statement: ast.stmt) -> frozenset[ast.AST]:
    """What a statement calls, as it is written there."""
    return frozenset(n.func for n in walk(statement) if isinstance(n, ast.Call))


@kept
def returned_by(function: ast.AST) -> frozenset[str]:
    """What a function returns, and what that is made of."""
    return read_in(n.value for n in walk(function) if isinstance(n, ast.Return) and n.value is not None)


def read_in(expressions: Iterable[ast.expr]) -> frozenset[str]:
    nodes = (n for expression in expressions for n in nodes_in(expression))
    return frozenset(spelled(n) for n in nodes if isinstance(n, NAMES))


def in_branches(test: Test) -> Iterator[ast.AST]:
    for block in blocks_of(test):
        for statement in block:
            yield from walk(statement)
