"""Expressions that give what holds tensors, or hands them out, and is none itself."""

from __future__ import annotations

import ast

HOLDING = (
    ast.Tuple, ast.List, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Starred,
)  # fmt: skip
OF_PYTHON = frozenset("dict enumerate filter iter list map range reversed set sorted tuple zip".split())
OF_DICTS = frozenset({"items", "keys", "values"})


def holds_others(expression: ast.expr) -> bool:
    """Whether it is `enumerate(losses)`, `losses.items()`, `[loss]` or the like, which has no method of tensors."""
    if not isinstance(expression, ast.Call):
        return isinstance(expression, HOLDING)
    if isinstance(expression.func, ast.Name):
        return expression.func.id in OF_PYTHON
    method = expression.func.attr if isinstance(expression.func, ast.Attribute) else ""
    return method in OF_DICTS and not (expression.args or expression.keywords)
