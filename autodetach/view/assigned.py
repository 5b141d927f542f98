"""Which expression an assignment gives to which target: through tuples, and to each of several targets."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def assigned(statement: ast.AST | None) -> Iterator[tuple[ast.expr, ast.expr]]:
    """`a = b, c = 0, x` gives `(0, x)` to `a`, `0` to `b` and `x` to `c`; what is taken apart unseen stays whole."""
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from _taken_apart(target, statement.value)


def given_to(place: ast.expr, statement: ast.AST | None) -> ast.expr | None:
    """What an assignment with one target gives to this name or attribute; None where it is no such statement."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return None
    return next((value for target, value in assigned(statement) if target is place), None)


def _taken_apart(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        is_starred = any(isinstance(part, ast.Starred) for part in (*target.elts, *value.elts))
        if len(target.elts) == len(value.elts) and not is_starred:
            for part, given in zip(target.elts, value.elts, strict=True):
                yield from _taken_apart(part, given)
            return
    yield target, value
