"""What is asked before a place is come to, in the function where it stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import blocks_of, nodes_in
from autodetach.node_types import COMPREHENSIONS, DEFINITIONS, FUNCTIONS, LOOPS
from autodetach.view.program import Program


def asked_before(program: Program, at: ast.AST) -> Iterator[ast.expr]:
    """The tests that decide whether it is, with those that may end a block before that."""
    inner = at
    for around in program.enclosing(at):
        if isinstance(inner, ast.stmt):
            block = program.block(inner)
            leaving = (s for s in block[: block.index(inner)] if _may_leave(s))
            yield from (n.test for s in leaving for n in nodes_in(s) if isinstance(n, ast.If))
        yield from _asked_by(around, inner)
        if isinstance(around, FUNCTIONS):
            return
        inner = around


def _may_leave(statement: ast.stmt) -> bool:
    """Whether it may end the block in which it stands: what ends a loop in it, or returns from a function, does not."""
    pending: list[tuple[ast.AST, bool]] = [(statement, False)]
    while pending:
        at, in_loop = pending.pop()
        if isinstance(at, (ast.Return, ast.Raise)) or (isinstance(at, (ast.Break, ast.Continue)) and not in_loop):
            return True
        if not isinstance(at, DEFINITIONS):
            in_loop = in_loop or isinstance(at, LOOPS)
            pending += ((inner, in_loop) for block in blocks_of(at) for inner in block)
    return False


def _asked_by(around: ast.AST, inner: ast.AST) -> Iterator[ast.expr]:
    """What decides whether a part of a statement or an expression is executed, or which element is taken of it."""
    if isinstance(around, (ast.If, ast.While, ast.IfExp)) and inner is not around.test:
        yield around.test
    elif isinstance(around, (ast.For, ast.AsyncFor)) and inner is not around.iter:
        yield around.iter
    elif isinstance(around, ast.BoolOp):
        yield from (value for value in around.values if value is not inner)
    elif isinstance(around, COMPREHENSIONS):
        yield from (asked for part in around.generators for asked in (part.iter, *part.ifs))
    elif isinstance(around, ast.Match) and inner is not around.subject:
        yield around.subject
    elif isinstance(around, ast.Subscript) and inner is around.value:
        yield around.slice
    elif isinstance(around, ast.Call) and isinstance(inner, ast.Attribute) and inner.attr == "get":
        yield from around.args if inner is around.func else ()
