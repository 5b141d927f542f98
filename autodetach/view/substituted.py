"""The text of an expression in which names stand for something else."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from autodetach.machine.spelling import spelled


def substituted(expression: ast.expr, new: Mapping[str, str]) -> str:
    """An expression, with others, as they are written, in the place of names: `a * b` where `a` is now `c.d`."""
    parts = {name: ast.parse(text, mode="eval").body for name, text in new.items()}
    whole = ast.parse(spelled(expression), mode="eval")
    return ast.unparse(_Substituted(parts).visit(whole))


class _Substituted(ast.NodeTransformer):
    def __init__(self, parts: Mapping[str, ast.expr]) -> None:
        self._parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._parts.get(node.id, node)
