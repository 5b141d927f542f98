"""Loops that look for something, and an error where they do not find it: on the usual path, they do."""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.program_values import Frame
from autodetach.node_types import CallableNode

BETWEEN = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
"""What may stand between a loop and the `raise`: what makes the message, or tells of it."""


def must_find(loop: ast.AST | None, frame: Frame) -> bool:
    """Whether a loop of the function that is run is followed by a `raise`, as in a look-up of a class by its name."""
    function = frame.function
    return function is not None and loop in _searches(function.node)


@kept
def _searches(function: CallableNode) -> frozenset[ast.AST]:
    found: set[ast.AST] = set()
    for node in nodes_in(function):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list):
                found.update(loop for at, loop in enumerate(block) if _fails_behind(loop, block[at + 1 :]))
    return frozenset(found)


def _fails_behind(loop: ast.AST, following: list[ast.stmt]) -> bool:
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return False
    behind = next((s for s in (*loop.orelse, *following) if not isinstance(s, BETWEEN)), None)
    return isinstance(behind, ast.Raise)
