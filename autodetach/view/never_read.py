"""Variables that a function only adds to: what they hold is gone with the call, and nothing has used it."""

from __future__ import annotations

import ast

from autodetach.machine.children import walk
from autodetach.node_types import CALLABLES
from autodetach.view.program import Program

SEEING_ALL = frozenset({"locals", "vars", "eval", "exec", "dir"})


def is_never_read(program: Program, statement: ast.stmt, name: ast.AST | None) -> bool:
    """Whether a local variable is read only for its next value, and in tests whether it has one by now."""
    scope = program.scope(statement)
    if not isinstance(name, ast.Name) or not isinstance(scope, CALLABLES):
        return False
    for node in walk(scope):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and name.id in node.names:
            return False
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        if node.id in SEEING_ALL or (node.id == name.id and not _is_for_itself(program, node)):
            return False
    return True


def _is_for_itself(program: Program, read: ast.Name) -> bool:
    around = program.parents[read]
    if isinstance(around, ast.Compare) and isinstance(around.ops[0], (ast.Is, ast.IsNot)):
        return True
    statement = program.statement(read)
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.target, ast.Name) and statement.target.id == read.id
    if not isinstance(statement, ast.Assign) or any(isinstance(n, ast.NamedExpr) for n in ast.walk(statement)):
        return False
    return all(isinstance(target, ast.Name) and target.id == read.id for target in statement.targets)
