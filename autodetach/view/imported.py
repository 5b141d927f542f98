"""What the names of a file are imported as."""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.view.program import Program


@kept
def imported(tree: ast.Module) -> dict[str, set[str]]:
    """The dotted paths that import statements anywhere in a file bind to each name."""
    found: dict[str, set[str]] = {}
    for statement in ast.walk(tree):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for name, path in bound_by(statement):
                found.setdefault(name, set()).add(path)
    return found


def bound_by(statement: ast.Import | ast.ImportFrom) -> list[tuple[str, str]]:
    """The names that an import binds, each with its dotted path."""
    if isinstance(statement, ast.ImportFrom):
        module = "." * statement.level + (statement.module or "")
        return [(alias.asname or alias.name, f"{module}.{alias.name}") for alias in statement.names]
    roots = (alias.name.partition(".")[0] for alias in statement.names)
    return [(a.asname or root, a.name if a.asname else root) for a, root in zip(statement.names, roots, strict=True)]


def paths_of(program: Program, expression: ast.expr) -> set[str]:
    """The dotted paths that a name or an attribute may have, where its root is imported."""
    rest = ""
    while isinstance(expression, ast.Attribute):
        rest = f".{expression.attr}{rest}"
        expression = expression.value
    if not isinstance(expression, ast.Name):
        return set()
    return {path + rest for path in imported(program.file_of(expression)).get(expression.id, ())}
