"""Windows over a list that a loop fills: `outputs[t + 1 - k:t + 1]` and `outputs[-k:]`, in every k-th pass alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.core import Core
from autodetach.machine.graph import Site, diverge
from autodetach.machine.held import graph_in
from autodetach.machine.program_values import Frame, Function
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Value


def of_this_window(m: Core, items: list[Value], site: Site) -> list[Value]:
    """Of the items of a slice, those that no window before it had.

    A pass that is executed stands for k of them, so that the last k items are those which no earlier pass has walked.
    """
    width = _width(site.node)
    if width is None or not any(_is_walked(m, item) for item in items):
        return items
    if spelled(width) not in {spelled(modulus) for modulus in _rhythms(m)}:
        return items
    return [item for item in items if not _is_walked(m, item)] or items


def _width(node: ast.AST) -> ast.expr | None:
    """`k` of `[-k:]`, `[t - k:t]` and `[t + 1 - k:t + 1]`."""
    lower = node.slice.lower if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) else None
    while isinstance(lower, ast.BinOp) and isinstance(lower.op, ast.Add):
        lower = lower.left  # `t - k + 1`
    if isinstance(lower, ast.UnaryOp) and isinstance(lower.op, ast.USub):
        return lower.operand
    return lower.right if isinstance(lower, ast.BinOp) and isinstance(lower.op, ast.Sub) else None


def _is_walked(m: Core, item: Value) -> bool:
    """Whether an earlier pass has differentiated what an item was made by."""
    walks = (d for t in graph_in(item) if t.node is not None for d in t.node.walked_by)
    return any(diverge(d.loops, m.loops) is not None for d in walks)


def _rhythms(m: Core) -> Iterator[ast.expr]:
    """The `k` of each test, as `t % k == 0`, that has to be true in a pass for the running statements to run."""
    above: tuple[ast.stmt, Frame] | None = None
    for statement, frame in m.trail:
        if above is None or above[1] is not frame:
            function = frame.function
            body = function.node.body if isinstance(function, Function) else []
            blocks = [body] if isinstance(body, list) else []
        else:
            blocks = [block for name in ("body", "orelse") if (block := getattr(above[0], name, None))]
        for block in blocks:
            if any(s is statement for s in block):
                yield from _tested_before(block, statement)
        above = statement, frame
        if isinstance(statement, ast.If):
            yield from _moduli(statement.test, truth=_is_in_body(m, statement))


def _is_in_body(m: Core, statement: ast.If) -> bool:
    running = {s for s, _ in m.trail}
    return any(s in running for s in statement.body)


def _tested_before(block: list[ast.stmt], statement: ast.stmt) -> Iterator[ast.expr]:
    """Of the statements of a block before one: `if t % k: continue`."""
    for before in block:
        if before is statement:
            return
        if isinstance(before, ast.If) and isinstance(before.body[-1], (ast.Continue, ast.Return)):
            yield from _moduli(before.test, truth=False)


def _moduli(test: ast.expr, *, truth: bool) -> Iterator[ast.expr]:
    """The `k` of what is true, or false, in every k-th pass."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _moduli(test.operand, truth=not truth)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if truth else ast.Or):
        for part in test.values:
            yield from _moduli(part, truth=truth)
    elif isinstance(test, ast.BinOp) and isinstance(test.op, ast.Mod) and not truth:
        yield test.right
    elif isinstance(test, ast.Compare) and [type(op) for op in test.ops] == [ast.Eq if truth else ast.NotEq]:
        yield from _moduli(test.left, truth=False)
