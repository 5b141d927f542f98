"""Containers from which something is taken once they hold so many: `if len(latest) > 3: del latest[0]`."""

from __future__ import annotations

import ast
from collections.abc import Sequence as Several

from autodetach.kept import kept
from autodetach.machine.core import Core
from autodetach.machine.held import held_by
from autodetach.machine.program_values import Frame
from autodetach.machine.rhythms import measured_by
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.values import Mapping, Sequence, Value

NAMED = (ast.Name, ast.Attribute)
LITTLE = 64
"""So many are dropped again before they cost much."""
TAKING = frozenset("pop popleft popitem clear __delitem__".split())
OF_HEAPS = frozenset("heappop heappushpop heapreplace".split())


def is_little(limit: Value) -> bool:
    """Whether so many are dropped again before they cost much."""
    return isinstance(limit, int) and limit <= LITTLE


def note_bound(m: Core, node: ast.If | ast.IfExp | ast.BoolOp, frame: Frame, *, is_so: bool) -> None:
    """Of what takes something out of a full container, and has not come to it, note that it will."""
    bound = _bound(node)
    if bound is None or is_so is bound[2]:
        return
    memory, limit, _ = bound
    if is_little(m.eval(limit, frame)):
        container = held_by(m.eval(memory, frame))
        if isinstance(container, (Sequence, Mapping)):
            container.dropped = m.clock


@kept
def _bound(node: ast.AST) -> tuple[ast.expr, ast.expr, bool] | None:
    """The container, how many it holds, and what the test is if something is taken out of it."""
    branches: tuple[tuple[Several[ast.AST], bool], ...]
    if isinstance(node, ast.BoolOp):
        test, branches = node.values[0], ((node.values[1:2], isinstance(node.op, ast.And)),)
    elif isinstance(node, ast.IfExp):
        test, branches = node.test, (([node.body], True), ([node.orelse], False))
    elif isinstance(node, ast.If):
        test, branches = node.test, ((node.body, True), (node.orelse, False))
    else:
        return None
    if not isinstance(test, ast.Compare) or len(test.ops) > 1:
        return None
    memory, limit = measured_by(test.left), test.comparators[0]
    if not isinstance(memory, NAMED) or not isinstance(limit, (*NAMED, ast.Constant)):
        return None
    for done, truth in branches:
        full = (ast.Gt, ast.GtE, ast.Eq) if truth else (ast.Lt, ast.LtE, ast.NotEq)
        if isinstance(test.ops[0], full) and any(_takes_from(one, spelled(memory)) for one in done):
            return memory, limit, truth
    return None


def _takes_from(node: ast.AST, memory: str) -> bool:
    """Whether a statement, or an expression, takes something out of a container."""
    if isinstance(node, ast.Delete):
        return any(isinstance(t, ast.Subscript) and spelled(t.value) == memory for t in node.targets)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return last_word(node) in OF_HEAPS  # what is called with the container
    call = node.value if isinstance(node, (ast.Expr, ast.Assign)) else node
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Attribute) and call.func.attr in TAKING:
        return spelled(call.func.value) == memory
    return last_word(call.func) in OF_HEAPS and bool(call.args) and spelled(call.args[0]) == memory
