"""Statements that run in every k-th pass alone, or once a list has k elements: what the tests around them ask for."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Iterator

from autodetach.machine.core import Core
from autodetach.machine.program_values import Frame, Function, Instance
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Sym, Value

Asked = tuple[ast.expr, bool, Frame]
"""A test that has gone one way for what is running, and the names that it asks for."""


def rhythms(m: Core, trail: Iterable[tuple[ast.stmt, Frame]]) -> list[Hashable]:
    """The key of each `k` of a test, as `t % k == 0`, that has to be true in a pass for these statements to run."""
    return [key for test, truth, frame in _asked(trail) for key in _moduli(m, test, frame, truth=truth)]


def covers(every: Iterable[Hashable], width: Hashable) -> bool | None:
    """Whether between two passes of a rhythm as much is added as a window is wide: all of it is another one then.

    None where that may be, since nobody knows how much one of them is.
    """
    told = [_is_at_most(width, one) for one in every]
    return True if True in told else None if None in told else False


def is_full(m: Core, container: ast.expr, width: ast.expr, value: Value) -> bool:
    """Whether what is running runs once a list has as many elements as `width` says: `if len(losses) >= 5:`."""
    return any(
        spelled(measured) == spelled(container)
        and (spelled(limit) == spelled(width) or m.key(value_of(limit, frame)) == m.key(value))
        for test, truth, frame in _asked(m.trail)
        for measured, limit in _limits(test, truth=truth)
    )


def value_of(node: ast.expr | None, frame: Frame) -> Value:
    """What is written, or bound to a name or an attribute of an object; of all else, something of its own text."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        found = frame.visible()
        if node.id in found:
            return found[node.id]
    if isinstance(node, ast.Attribute):
        holder = value_of(node.value, frame)
        if isinstance(holder, Instance) and node.attr in holder.attrs:
            return holder.attrs[node.attr]
    return Sym(("text", spelled(node) if node is not None else ""))


def _is_at_most(width: Hashable, every: Hashable) -> bool | None:
    if width == every:
        return True
    one, other = _number(width), _number(every)
    return None if one is None or other is None else one <= other


def _number(key: Hashable) -> int | None:
    known = key[1] if isinstance(key, tuple) and len(key) == 2 and key[0] == "c" else None
    return known if isinstance(known, int) else None


# ---- the tests around what is running


def _asked(trail: Iterable[tuple[ast.stmt, Frame]]) -> Iterator[Asked]:
    statements = list(trail)
    running = {statement for statement, _ in statements}
    above: tuple[ast.stmt, Frame] | None = None
    for statement, frame in statements:
        if above is None or above[1] is not frame:
            function = frame.function
            body = function.node.body if isinstance(function, Function) else []
            blocks = [body] if isinstance(body, list) else []
        else:
            blocks = [block for name in ("body", "orelse") if (block := getattr(above[0], name, None))]
        for block in blocks:
            if any(s is statement for s in block):
                yield from ((test, False, frame) for test in _left_before(block, statement))
        above = statement, frame
        if isinstance(statement, (ast.If, ast.While)):
            yield statement.test, any(s in running for s in statement.body), frame


def _left_before(block: list[ast.stmt], statement: ast.stmt) -> Iterator[ast.expr]:
    """The tests of the statements of a block before one, which go on if they are true: `if t % k: continue`."""
    for before in block:
        if before is statement:
            return
        if isinstance(before, ast.If) and isinstance(before.body[-1], (ast.Continue, ast.Return)):
            yield before.test


def _moduli(m: Core, test: ast.expr, frame: Frame, *, truth: bool) -> Iterator[Hashable]:
    """The `k` of what is true, or false, in every k-th pass."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _moduli(m, test.operand, frame, truth=not truth)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if truth else ast.Or):
        for part in test.values:
            yield from _moduli(m, part, frame, truth=truth)
    elif isinstance(test, ast.BinOp) and isinstance(test.op, ast.Mod) and not truth:
        yield m.key(value_of(test.right, frame))
    elif isinstance(test, ast.Name) and not truth:
        known = value_of(test, frame)
        every = modulus(known)
        if every is not None:
            yield every
    elif isinstance(test, ast.Compare) and [type(op) for op in test.ops] == [ast.Eq if truth else ast.NotEq]:
        yield from _moduli(m, test.left, frame, truth=False)


def modulus(number: Value) -> Hashable:
    """The key of `k` of what has been computed as `t % k`; None of all else."""
    key = number.key if isinstance(number, Sym) else None
    return key[2] if isinstance(key, tuple) and len(key) == 3 and key[0] == "Mod" else None


def _limits(test: ast.expr, *, truth: bool) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The list, and the `k`, of what is true, or false, once that has k elements: `len(losses) >= k`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _limits(test.operand, truth=not truth)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if truth else ast.Or):
        for part in test.values:
            yield from _limits(part, truth=truth)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        measured = measured_by(test.left)
        if measured is not None and isinstance(test.ops[0], (ast.Eq, ast.GtE) if truth else (ast.NotEq, ast.Lt)):
            yield measured, test.comparators[0]


def measured_by(node: ast.expr | None) -> ast.expr | None:
    """`losses` of `len(losses)`."""
    is_length = isinstance(node, ast.Call) and spelled(node.func) == "len" and len(node.args) == 1
    return node.args[0] if is_length and isinstance(node, ast.Call) else None
