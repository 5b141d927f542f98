"""What a statement changes: `total` of `total += loss`, of `total.add_(loss)` and of `setattr(self, "total", ...)`."""

from __future__ import annotations

import ast
from typing import TypeGuard

from autodetach.machine.spelling import last_word, spelled


def target_of(statement: ast.stmt) -> ast.AST | None:
    if isinstance(statement, ast.AugAssign):
        return statement.target
    if isinstance(statement, ast.Assign):
        return statement.targets[0]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        func, args = statement.value.func, statement.value.args
        if spelled(func) == "setattr" and len(args) > 1:
            return _attribute(args[0], args[1])
        if args and last_word(func).startswith("_foreach_"):
            return args[0]
        return func.value if isinstance(func, ast.Attribute) else func
    return statement


def is_set(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether it is an attribute that is set or deleted where it stands."""
    return isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)


def _attribute(this: ast.expr, name: ast.expr) -> ast.expr:
    """What `setattr(this, name, value)` sets."""
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        return ast.Attribute(this, name.value, ast.Load())
    return ast.Call(ast.Name("getattr", ast.Load()), [this, name], [])
