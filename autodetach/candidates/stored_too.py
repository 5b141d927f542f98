"""Other statements of a function that put a value into the same container: `images[k] = image` once it is full."""

from __future__ import annotations

import ast

from autodetach.container_methods import ADDING_ONE
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
    bound = [n for n in walk(scope) if isinstance(n, ast.arg) and n.arg == element.id]
    written = [n for n in walk(scope) if isinstance(n, ast.Name) and n.id == element.id and _is_bound(n)]
    if len(bound) + len(written) > 1:
        return []
    place = spelled(holder)
    given = (_stored_by(node, place) for node in walk(scope) if isinstance(node, ast.stmt))
    return [e for e in given if e is not None and e is not element and spelled(e) == element.id]


def _is_bound(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _stored_by(statement: ast.stmt, place: str) -> ast.expr | None:
    """What a statement puts into the container that is written so."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        (target,) = statement.targets
        return statement.value if isinstance(target, ast.Subscript) and spelled(target.value) == place else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not call.args:
        return None
    is_adding = call.func.attr in ADDING_ONE and spelled(call.func.value) == place
    return call.args[-1] if is_adding else None
