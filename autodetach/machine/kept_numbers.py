"""Which numbers are kept as they are read, and not computed with: `last = loss.item()`.

A tensor in the place of such a one shows what it is changed to in place later on; what is computed from it does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.children import targets_of
from autodetach.machine.spelling import arguments_of


def is_kept(statement: ast.stmt, read: ast.AST) -> bool:
    """Whether a statement binds, returns or hands on what is read there, by itself or as one of some values."""
    return read in _kept_by(statement)


@kept
def _kept_by(statement: ast.stmt) -> frozenset[ast.AST]:
    value = getattr(statement, "value", None)
    is_taken = isinstance(statement, (ast.Expr, ast.Return)) or bool(targets_of(statement))
    if not is_taken or isinstance(statement, ast.AugAssign) or not isinstance(value, ast.expr):
        return frozenset()
    return frozenset(_given_on(value))


def _given_on(value: ast.expr) -> Iterator[ast.expr]:
    """An expression, and those in it whose value may be its own, or be held by that."""
    yield value
    parts: list[ast.expr] = []
    if isinstance(value, ast.IfExp):
        parts = [value.body, value.orelse]
    elif isinstance(value, ast.BoolOp):
        parts = value.values
    elif isinstance(value, (ast.NamedExpr, ast.Starred)):
        parts = [value.value]
    elif isinstance(value, (ast.Tuple, ast.List, ast.Set)):
        parts = value.elts
    elif isinstance(value, ast.Dict):
        parts = value.values
    elif isinstance(value, ast.Call):
        parts = arguments_of(value)
    for part in parts:
        yield from _given_on(part)
