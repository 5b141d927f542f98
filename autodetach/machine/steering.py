"""Where a test steers the training: how long it goes on, or what a branch does to an optimizer.

`.item()` makes a number of double precision, and a sum of these is another one in its last digits than the sum of the
tensors, by which such a test may go the other way. What the branches only save or print is left as it is. A scheduler
tests what its step is given; a truth that is counted may weigh a loss; and what chooses a value, by `a if test else b`,
chooses what that is for, as does what picks it by an index, `rates[worse]`, or counts how often a loop steps.
"""

from __future__ import annotations

import ast
from collections import abc
from collections.abc import Iterable, Iterator

from autodetach.kept import kept
from autodetach.machine.children import targets_of, walk
from autodetach.machine.core import Core
from autodetach.machine.events import Escape
from autodetach.machine.graph import Site
from autodetach.machine.number_readers import FRACTION, ROUNDED
from autodetach.machine.program_values import Frame
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.told_of_values import is_number, key_of
from autodetach.machine.values import Mapping, Opaque, Sequence, Sym, Tensor, Value
from autodetach.node_types import LOOPS, SCOPES

NAMES = (ast.Name, ast.Attribute, ast.Subscript)
Loop = ast.For | ast.AsyncFor | ast.While
ENDING = (ast.Break, ast.Return, ast.Raise)
OF_LOOPS = (ast.Break, ast.Continue)
STEERING = frozenset({"_exit", "abort", "backward", "exit", "load_state_dict", "quit", "step"})
"""Calls that end a program, or train, or go back to other weights."""
TAKING = (ast.AnnAssign, ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
"""Statements that take a value, and do not ask for it."""
SHOWING = frozenset("bar pbar profiler prof progress progressbar spinner ticker timer tqdm".split())
"""Words in the names of what has a `step()` that trains nothing."""
RATES = frozenset({"betas", "learning_rate", "lr", "momentum", "weight_decay"})
Trail = abc.Sequence[tuple[ast.stmt, Frame]]
"""The statements that are executed, from the outermost one to the innermost one, each with its frame."""


def tested(m: Core, value: Sym, site: Site) -> None:
    """The truth of what is computed from a sum is asked: whether that steers the training is noted."""
    if not (m.trail and ROUNDED in value.tags):
        return
    statement, frame = m.trail[-1]
    if isinstance(statement, (ast.If, ast.While)) and _is_in(site.node, statement.test):
        frame.went[statement, ROUNDED] = True
        steers = _goes_to(m.trail)
    elif isinstance(statement, ast.Expr) and any(_is_in(site.node, each) for each in _asked_first(statement.value)):
        steers = _goes_to(m.trail)
    elif isinstance(statement, ast.Assert):
        steers = _is_in(site.node, statement.test)
    else:
        chosen = next((n for n in _choices(statement) if _is_in(site.node, n.test)), None)
        steers = chosen is not None and _chooses(m.trail, statement, chosen)
    if steers:
        _note(m, value.tags, site)


def scheduled(m: Core, values: Iterable[Value], site: Site) -> None:
    """A `step()` out of view is given some values: a scheduler compares what it is given with what it was given."""
    tags = frozenset(tag for value in values if type(value) is Sym for tag in value.tags)
    if ROUNDED in tags and isinstance(site.node, ast.Call) and not _shows(site.node.func):
        _note(m, tags, site)


def rated(m: Core, this: Value, key: Value, value: Value, site: Site) -> None:
    """Something is stored under a key: a learning rate may be made of a sum, or be set where a test of one leads to."""
    if not (isinstance(key, str) and key in RATES):
        return
    if isinstance(this, Mapping) and key_of("params") not in this.items:
        return  # a record, which may tell of the rate
    tags = value.tags if type(value) is Sym else frozenset()
    if ROUNDED in tags or any((statement, ROUNDED) in frame.went for statement, frame in m.trail):
        _note(m, tags, site)


def weighed(m: Core, left: Value, right: Value, site: Site) -> None:
    """An operator is applied to a number and to a tensor: if the number counts how a test of sums went, it steers."""
    number, other = (left, right) if type(left) is Sym else (right, left)
    if type(number) is not Sym or ROUNDED not in number.tags or FRACTION in number.tags:
        return
    if isinstance(other, (Tensor, Opaque)) and other.node is not None:
        _note(m, number.tags, site)


def picked(m: Core, element: Value, this: Mapping | Sequence, index: Value, site: Site) -> Value:
    """What stands at a place that was computed from a sum, `rates[worse]`: where it goes to may steer the training.

    Of numbers it may be any, and is told as one that counts how a test went.
    """
    if type(index) is not Sym or ROUNDED not in index.tags:
        return element
    if m.trail and isinstance(m.trail[-1][0], TAKING) and _goes_to(m.trail):
        _note(m, index.tags, site)
    others = [value for _, value in this.items.values()] if isinstance(this, Mapping) else this.items
    return m.fresh("number", tags=frozenset({ROUNDED})) if all(map(is_number, others)) else element


def counted(m: Core, values: Iterable[Value], site: Site) -> None:
    """A loop runs as often as a sum says, `for _ in range(int(total))`: what it does may steer the training.

    So may the number of batches that are taken: `batches[:n]`, `islice(batches, n)`. See `trained`.
    """
    tags = frozenset(tag for value in values if type(value) is Sym for tag in value.tags)
    if not (ROUNDED in tags and m.trail):
        return
    loop, frame = m.trail[-1]
    frame.went[loop, ROUNDED] = True
    if not isinstance(loop, (ast.For, ast.AsyncFor)) or not _is_in(site.node, loop.iter):
        return
    if any(_steers(n) for statement in loop.body for n in walk(statement) if isinstance(n, ast.Call)):
        _note(m, tags, site)


def trained(m: Core, site: Site) -> None:
    """Something is differentiated, or an optimizer steps, inside of what a sum was asked for: whether, or how often."""
    if any((statement, ROUNDED) in frame.went for statement, frame in m.trail if frame.went):
        _note(m, frozenset({ROUNDED}), site)


def made_with_rate(m: Core, values: Iterable[Value], site: Site) -> None:
    """An optimizer is made: its rate may be picked by a sum, `SGD(weights, lr=rates[int(total > 1)])`."""
    tags = frozenset(tag for value in values for each in _rates_in(value) for tag in each.tags)
    if ROUNDED in tags or any((statement, ROUNDED) in frame.went for statement, frame in m.trail if frame.went):
        _note(m, frozenset({ROUNDED}), site)


def _rates_in(value: Value) -> Iterator[Sym]:
    """A number, or the rates of groups: `[{"params": weights, "lr": rate}]`."""
    if type(value) is Sym:
        yield value
    groups = value.items if isinstance(value, Sequence) else ()
    for _, rate in (pair for group in groups if isinstance(group, Mapping) for pair in group.items.values()):
        if type(rate) is Sym:
            yield rate


def _note(m: Core, tags: frozenset[object], site: Site) -> None:
    """What Python makes of a number and of a tensor alike is told by nothing else than the place where it steers."""
    told = tags if any(isinstance(tag, ast.AST) for tag in tags) else tags | {site.node}
    m.escapes.append(Escape((), Site(site.node, site.scope), m.tick(), "test", told))


def _is_in(node: ast.AST | None, expression: ast.expr) -> bool:
    return any(n is node for n in walk(expression))


@kept
def _choices(statement: ast.stmt) -> list[ast.IfExp]:
    """Where a simple statement chooses between two values."""
    return [] if hasattr(statement, "body") else [n for n in walk(statement) if isinstance(n, ast.IfExp)]


def _chooses(trail: Trail, statement: ast.stmt, chosen: ast.IfExp) -> bool:
    """Whether it steers the training which of two values a statement takes."""
    if any(_steers(n) for branch in (chosen.body, chosen.orelse) for n in walk(branch)):
        return True
    if isinstance(statement, (ast.Assign, ast.AugAssign)) and not any(map(_counts, (chosen.body, chosen.orelse))):
        return any(_is_rate(n) for target in targets_of(statement) for n in walk(target))
    return _goes_to(trail)


def _counts(value: ast.expr) -> bool:
    """`0`, `True`, `stale + 1`: what tells how a test went, and is no value of its own."""
    if isinstance(value, ast.Tuple):
        return any(map(_counts, value.elts))
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub)):
        sides = (value.left, value.right)
        return any(isinstance(n, ast.Constant) for n in sides) and any(isinstance(n, NAMES) for n in sides)
    return isinstance(value, ast.Constant)


def _goes_to(trail: Trail) -> bool:
    """Whether the value that the innermost statement of some takes steers the training."""
    statement, frame = trail[-1]
    if isinstance(statement, ast.Return):
        callers = [place for place, (_, there) in enumerate(trail) if there is not frame]
        return bool(callers) and _goes_to(trail[: callers[-1] + 1])
    if isinstance(statement, (ast.If, ast.While)):
        loop = next((at for at, there in reversed(trail[:-1]) if there is frame and isinstance(at, LOOPS)), None)
        skips = loop is not None and _skips(statement, loop)
        return skips or is_steering(statement) or _go_on(trail, _set_in(statement))
    if isinstance(statement, ast.Expr):
        return any(_steers(n) for n in walk(statement))
    targets = targets_of(statement)
    names = frozenset(spelled(n) for t in targets for n in walk(t) if isinstance(n, NAMES) and not _is_read(n))
    return any(_is_rate(n) for t in targets for n in walk(t)) or _go_on(trail, names)


def _is_read(n: ast.Name | ast.Attribute | ast.Subscript) -> bool:
    return isinstance(n.ctx, ast.Load)


def _go_on(trail: Trail, names: frozenset[str]) -> bool:
    """Whether what the innermost statement sets is asked for later where it steers the training, or by its caller."""
    statement, frame = trail[-1]
    function = frame.function.node if frame.function is not None else None
    around = function or next((at for at, there in trail if there is frame), statement)
    if not names.isdisjoint(_ending(around)):
        return True
    callers = [place for place, (_, there) in enumerate(trail) if there is not frame]
    if not callers or names.isdisjoint(_returned(around)):
        return False
    return _goes_to(trail[: callers[-1] + 1])


@kept
def is_steering(test: ast.If | ast.While) -> bool:
    """Whether the branches leave a loop or function, step an optimizer, or set its learning rate or a flag."""
    if isinstance(test, ast.While):
        return True
    own = frozenset(n for block in (test.body, test.orelse) for n in _leaving(block))
    return any(_steers(n) for n in _in_branches(test) if n in own or not isinstance(n, ENDING))


@kept
def _skipping(loop: Loop) -> frozenset[ast.stmt]:
    """Each `continue` of a loop that leaves out what steers the training, as the step further down."""
    calls = (n for statement in loop.body for n in walk(statement) if isinstance(n, ast.Call) and _steers(n))
    last = max((n.lineno for n in calls), default=0)
    return frozenset(n for n in _leaving(loop.body) if isinstance(n, ast.Continue) and n.lineno < last)


def _skips(test: ast.If | ast.While, loop: Loop) -> bool:
    return isinstance(test, ast.If) and not _skipping(loop).isdisjoint(_in_branches(test))


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


def _steers(n: ast.AST) -> bool:
    if isinstance(n, ast.Call):
        return (last_word(n.func) in STEERING and not _shows(n.func)) or _updates_rates(n)
    if isinstance(n, ast.Assign):
        return isinstance(n.targets[0], ast.Attribute) and _is_flag(n.value)
    return _is_rate(n) or isinstance(n, ENDING)


def _is_rate(n: ast.AST) -> bool:
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


def _asked_first(value: ast.expr) -> list[ast.expr]:
    """`total < best` of `total < best or scheduler.step()`."""
    return value.values[:-1] if isinstance(value, ast.BoolOp) else []


def _shows(callee: ast.expr) -> bool:
    """`pbar.step()`, `self.profiler.step()`."""
    owner = last_word(callee.value) if isinstance(callee, ast.Attribute) else ""
    return not SHOWING.isdisjoint(owner.lower().split("_"))


@kept
def _set_in(test: ast.If | ast.While) -> frozenset[str]:
    """What the branches count, or set to a constant: `patience += 1`, `done = True`."""
    found = [n for n in _in_branches(test) if isinstance(n, (ast.Assign, ast.AugAssign))]
    pairs = (pair for n in found for target in targets_of(n) for pair in _pairs(target, n.value))
    return frozenset(spelled(t) for t, value in pairs if isinstance(t, NAMES) and _counts(value))


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """`best, stale = loss, 0`: each target with its value."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _is_flag(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, bool)


@kept
def _ending(function: ast.AST) -> frozenset[str]:
    """What tests are asked for that steer the training, in a function or a statement, or that it returns; or a rate."""
    nodes = list(walk(function))
    tests: list[ast.expr] = [n.test for n in nodes if isinstance(n, (ast.If, ast.While)) and is_steering(n)]
    loops = [n for n in nodes if isinstance(n, LOOPS)]
    tests += [n.test for loop in loops for n in walk(loop) if isinstance(n, ast.If) and _skips(n, loop)]
    tests += [n.value for n in nodes if isinstance(n, ast.Return) and isinstance(n.value, (ast.BoolOp, ast.Compare))]
    rates = (n for n in nodes if isinstance(n, (ast.Assign, ast.AugAssign)) and any(map(_is_rate, targets_of(n))))
    makers = [n for n in nodes if isinstance(n, ast.Call) and last_word(n.func)[:1].isupper()]  # `SGD(..., lr=rate)`
    given = [k.value for call in makers for k in call.keywords if k.arg in RATES]
    return _read_in([*tests, *(n.value for n in rates), *given])


@kept
def _returned(function: ast.AST) -> frozenset[str]:
    """What a function returns, and what that is made of."""
    return _read_in(n.value for n in walk(function) if isinstance(n, ast.Return) and n.value is not None)


def _read_in(expressions: Iterable[ast.expr]) -> frozenset[str]:
    nodes = (n for expression in expressions for n in ast.walk(expression))
    return frozenset(spelled(n) for n in nodes if isinstance(n, NAMES))


def _in_branches(test: ast.If | ast.While) -> Iterator[ast.AST]:
    for statement in (*test.body, *test.orelse):
        yield from walk(statement)
