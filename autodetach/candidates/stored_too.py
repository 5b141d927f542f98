"""Other statements of a function that put a value into the same container: `images[k] = image` once it is full."""

from __future__ import annotations

import ast
from collections import Counter

from autodetach.container_methods import ADDING_ONE
from autodetach.kept import kept
from autodetach.machine.children import walk
from autodetach.machine.spelling import spelled
from autodetach.view.program import Program


def stored_too(program: Program, element: ast.expr, holder: ast.expr | None) -> list[ast.expr]:
    """The value where others store it, which has one and the same meaning in the function; `holder` is what it goes to.

    A container that is not full, and one that is, take it in different ways: to detach in one of them is half a repair.
    """
    scope = program.scope(element)
    if holder is None or not isinstance(element, ast.Name) or not isinstance(scope, (ast.FunctionDef, ast.Module)):
        return []
    if _times_bound(scope)[element.id] > 1:
        return []
    given = _stored_in(scope).get(spelled(holder), ())
    return [e for e in given if e is not element and spelled(e) == element.id]


@kept
def _times_bound(scope: ast.FunctionDef | ast.Module) -> Counter[str]:
    """How often each name is a parameter, or is bound otherwise, in a function or file and what is in it."""
    found = Counter(n.arg for n in walk(scope) if isinstance(n, ast.arg))
    found.update(n.id for n in walk(scope) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
    return found


@kept
def _stored_in(scope: ast.FunctionDef | ast.Module) -> dict[str, list[ast.expr]]:
    """What statements put into containers, by how these are written."""
    found: dict[str, list[ast.expr]] = {}
    for statement in walk(scope):
        stored = _stored_by(statement) if isinstance(statement, ast.stmt) else None
        if stored is not None:
            found.setdefault(spelled(stored[0]), []).append(stored[1])
    return found


def _stored_by(statement: ast.stmt) -> tuple[ast.expr, ast.expr] | None:
    """The container into which a statement puts something, and that."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        (target,) = statement.targets
        return (target.value, statement.value) if isinstance(target, ast.Subscript) else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not call.args:
        return None
    return (call.func.value, call.args[-1]) if call.func.attr in ADDING_ONE else None
