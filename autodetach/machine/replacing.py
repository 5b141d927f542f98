"""Loops that give each key of a dict a new value."""

from __future__ import annotations

import ast

from autodetach.machine.spelling import spelled

MOST = 64


def replaces_each(node: ast.For | ast.AsyncFor) -> bool:
    """`for k, v in states.items(): states[k] = v.detach()`: none of the old values is left, however many there are."""
    over, key = node.iter, node.target
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id in ("list", "sorted", "tuple"):
        over = over.args[0] if over.args else over
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and not over.args:
        if over.func.attr == "items" and isinstance(key, ast.Tuple):
            key = key.elts[0]
        elif over.func.attr != "keys":
            return False
        over = over.func.value
    if not isinstance(key, ast.Name):
        return False
    return any(
        isinstance(target, ast.Subscript) and spelled(target.slice) == key.id and spelled(target.value) == spelled(over)
        for statement in node.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    )
