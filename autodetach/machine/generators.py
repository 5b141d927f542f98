"""Which functions are generators, those with a `yield` of their own, and which of these come to an end."""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.children import children_of, nodes_in
from autodetach.node_types import FUNCTIONS, SCOPES, CallableNode


@kept
def has_yield(node: ast.AST) -> bool:
    """Whether a function is a generator: a `yield` of its own, not one of a nested function."""
    if isinstance(node, ast.Lambda):
        return False
    assert isinstance(node, FUNCTIONS)
    return any(yields(statement) for statement in node.body)


@kept
def ends(node: CallableNode) -> bool:
    """Whether no loop of a generator goes on for ever, as `while True` does."""
    return not any(
        isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant) and yields(loop) for loop in nodes_in(node)
    )


@kept
def yields(statement: ast.AST) -> bool:
    """Whether a `yield` stands in a statement; of a block, an edit leaves most statements as they were."""
    if type(statement) in SCOPES:
        return False
    pending = children_of(statement)
    while pending:
        node = pending.pop()
        kind = type(node)
        if kind is ast.Yield or kind is ast.YieldFrom:
            return True
        if isinstance(node, ast.stmt):
            if yields(node):
                return True
        elif kind not in SCOPES and kind is not ast.Name and kind is not ast.Constant:
            pending += children_of(node)
    return False
