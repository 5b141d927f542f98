"""What is asked before a place is come to, in the function where it stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import nodes_in
from autodetach.node_types import COMPREHENSIONS, DEFINITIONS, FUNCTIONS, JUMPS
from autodetach.view.program import Program


def asked_before(program: Program, at: ast.AST) -> Iterator[ast.expr]:
    inner = at
    for around in program.enclosing(at):
        if isinstance(inner, ast.stmt):
            block = program.block(inner)
            before = [s for s in block[: block.index(inner)] if not isinstance(s, DEFINITIONS)]
            leaving = (n for s in before if any(isinstance(j, JUMPS) for j in nodes_in(s)) for n in nodes_in(s))
            yield from (n.test for n in leaving if isinstance(n, ast.If))
        yield from _asked_by(around, inner)
        if isinstance(around, FUNCTIONS):
            return
        inner = around


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
