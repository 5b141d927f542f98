"""Which expression stands for an operand of a node, from the values that were seen at its site."""

from __future__ import annotations

import ast

from autodetach.machine.graph import Node
from autodetach.machine.held import contents
from autodetach.machine.values import Mapping, Sequence


def expression_of(node: Node, operand: object) -> ast.expr | None:
    """The expression behind an operand of a node, from the values at its site."""
    for expression, value in node.site.operands:
        if value is operand:
            return expression
    for expression, value in node.site.operands:
        if isinstance(value, (Sequence, Mapping)) and operand in contents(value):
            return _part(expression, value, operand)
    return None


def _part(expression: ast.expr, value: Sequence | Mapping, operand: object) -> ast.expr:
    """Of the display `[real, fake]` or `{"loss": loss}`, the part that gives the operand."""
    if isinstance(expression, ast.Dict) and None not in expression.keys:
        parts = zip(expression.values, contents(value), strict=False)
        return next((part for part, item in parts if item is operand), expression)
    if isinstance(expression, (ast.List, ast.Tuple)) and len(expression.elts) == len(contents(value)):
        for part, item in zip(expression.elts, contents(value), strict=True):
            if item is operand:
                return part
    return expression
