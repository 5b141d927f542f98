"""What is taken of a generator that is not run to its end here, and yields something else there.

`next(steps)` and `zip(names, steps)` leave open how far a program comes: a loss may as well be the text or the summary
that stands behind the losses. `Machine.taken_early` has what was taken so, each with the tests of its type that the
program has made: whether one is passed by tensors alone.
"""

from __future__ import annotations

import ast

from autodetach.machine.children import nodes_in
from autodetach.machine.core import Core
from autodetach.machine.exceptions import handles_and_goes_on
from autodetach.machine.graph import Site
from autodetach.machine.held import tensors_in
from autodetach.machine.program_values import Iterable
from autodetach.machine.values import Opaque, Tensor, Value
from autodetach.machine.yielded_behind import goes_on_behind, hands_on
from autodetach.node_types import COMPREHENSIONS, JUMPS, LOOPS

Tests = dict[ast.AST, bool]
MAX_WRAPPERS = 8


def note_taken(m: Core, items: Iterable, item: Value) -> Value:
    """An item was taken of what may be a generator, not by a loop over it; gives the item back."""
    if _goes_on(items):
        for tensor in tensors_in(item, 2):
            m.taken_early.setdefault(tensor, {})
    return item


def _goes_on(items: Iterable, depth: int = MAX_WRAPPERS) -> bool:
    """Whether something is a generator that yields something else in the end, or hands on what such a one yields."""
    while items.inner is not None:
        items = items.inner
    frame = items.frame
    if frame is None or frame.function is None or depth == 0:
        return False
    if goes_on_behind(frame.function.node):
        return True
    return any(hands_on(place) and _goes_on(inner, depth - 1) for place, inner in frame.gone_over.items())


def note_asked(m: Core, this: Tensor | Opaque, name: str, site: Site) -> None:
    """A method of it is called: what is no tensor would raise here, and nobody asks behind that.

    In the branch of a test of its type, nothing is said about what stands behind that; neither where the program goes
    on behind what is raised.
    """
    guards = _guards(m, m.taken_early[this], site.node)
    if not guards and not _goes_on_when_raised(m):
        del m.taken_early[this]
    if name in ("item", "detach") and not any(guards):
        m.asked.append((site.node, m.fresh()))


def _goes_on_when_raised(m: Core) -> bool:
    """Whether the pass that is running handles what is raised where no attribute is, and does not end by that."""
    trail = [each for each, _ in m.trail]
    loops = [at for at, each in enumerate(trail) if isinstance(each, LOOPS)]
    return any(handles_and_goes_on(each, "AttributeError") for each in trail[loops[-1] + 1 if loops else 0 :])


def note_tested(m: Core, value: Value, site: Site, sure: bool) -> None:
    """The type of a value is asked: it may be something else, but where a test leaves only tensors behind it."""
    if not isinstance(value, (Tensor, Opaque)) or value not in m.taken_early:
        return
    statement = m.trail[-1][0] if m.trail else None
    if sure and statement is not None and _stops(statement, site.node):
        del m.taken_early[value]
    else:
        m.taken_early[value][site.node] = sure


def _stops(statement: ast.stmt, test: ast.AST) -> bool:
    """`assert isinstance(loss, Tensor)`, and `if not isinstance(loss, Tensor): break`."""
    if isinstance(statement, ast.Assert):
        return statement.test is test
    if not isinstance(statement, ast.If) or not isinstance(statement.body[-1], JUMPS):
        return False
    asked = statement.test
    return isinstance(asked, ast.UnaryOp) and isinstance(asked.op, ast.Not) and asked.operand is test


def _guards(m: Core, tests: Tests, place: ast.AST) -> list[bool]:
    """Whether tensors alone pass the tests of a type in whose branches a place stands."""
    if not tests:
        return []
    return [sure for test, sure in tests.items() if any(_chooses(at, test, place) for at, _ in m.trail)]


def _chooses(statement: ast.stmt, test: ast.AST, place: ast.AST) -> bool:
    """Whether a statement that is open runs what it does by a test."""
    if isinstance(statement, (ast.If, ast.While)):
        return test in list(nodes_in(statement.test))
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return test in list(nodes_in(statement.iter))
    is_there = place in list(nodes_in(statement))
    choices = (n for n in nodes_in(statement) if isinstance(n, (ast.IfExp, ast.BoolOp, *COMPREHENSIONS)))
    return any(test in inside and (place in inside or not is_there) for inside in map(list, map(nodes_in, choices)))
