"""What the names of a file are imported as."""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.children import walk
from autodetach.view.program import Program


@kept
def imported(tree: ast.Module) -> dict[str, list[str]]:
    """The dotted paths that import statements anywhere in a file bind to each name, each once."""
    found: dict[str, list[str]] = {}
    for statement in walk(tree):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for name, path in bound_by(statement):
                paths = found.setdefault(name, [])
                paths += [path] if path not in paths else []
    return found


def bound_by(statement: ast.Import | ast.ImportFrom) -> list[tuple[str, str]]:
    """The names that an import binds, each with its dotted path."""
    if isinstance(statement, ast.ImportFrom):
        module = "." * statement.level + (statement.module or "")
        return [(alias.asname or alias.name, f"{module}.{alias.name}") for alias in statement.names]
    roots = (alias.name.partition(".")[0] for alias in statement.names)
    return [(a.asname or root, a.name if a.asname else root) for a, root in zip(statement.names, roots, strict=True)]


def paths_of(program: Program, expression: ast.expr) -> list[str]:
    """The dotted paths that a name or an attribute may have, where its root is imported."""
    root, rest = _root_and_rest(expression)
    return [path + rest for path in _imported_as(program, root)]


def imported_as(program: Program, call: ast.Call) -> str:
    """The dotted path of what is called, where its root is imported, without the dots of a package; else nothing."""
    root, rest = _root_and_rest(call.func)
    path = next(iter(_imported_as(program, root)), "")
    if path.startswith("."):
        path = path.lstrip(".")
        path = path if "." in path else f".{path}"  # `from . import name`
    return path + rest if path else ""


def _imported_as(program: Program, root: ast.expr) -> list[str]:
    return imported(program.file_of(root)).get(root.id, []) if isinstance(root, ast.Name) else []


def _root_and_rest(expression: ast.expr) -> tuple[ast.expr, str]:
    rest = ""
    while isinstance(expression, ast.Attribute):
        rest = f".{expression.attr}{rest}"
        expression = expression.value
    return expression, rest
