"""Where a program says itself whether gradients are recorded: by the `with` statements and decorators that it has."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TypeGuard

from autodetach.machine.spelling import called_name, last_word
from autodetach.node_types import FUNCTIONS

NO_GRAD = "no_grad"
SWITCH = "set_grad_enabled"
TURNING_OFF = frozenset({NO_GRAD, "inference_mode", SWITCH})
"""What turns gradients off, or may."""


def mode_named(expression: ast.expr) -> str:
    """`no_grad` of `torch.no_grad()`, and of `torch.no_grad`, as which it also stands above a function."""
    return called_name(expression) or last_word(expression)


def modes_at(node: ast.AST) -> list[ast.expr]:
    """What a `with` statement enters, or what stands above a function or class."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [item.context_expr for item in node.items]
    return [*node.decorator_list] if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else []


def are_off(nodes: Iterable[ast.AST], modes: frozenset[str] = TURNING_OFF) -> bool:
    """Whether any of some blocks and functions says that gradients are off, or may be, by one of these modes."""
    return any(mode_named(mode) in modes for node in nodes for mode in modes_at(node))


def is_no_grad(node: ast.AST) -> TypeGuard[ast.With]:
    """Whether a statement is `with torch.no_grad():`, whatever else it enters."""
    return isinstance(node, ast.With) and any(called_name(mode) == NO_GRAD for mode in modes_at(node))


def is_only_no_grad(node: ast.AST) -> TypeGuard[ast.With]:
    """Whether a statement is `with torch.no_grad():`, and enters nothing else."""
    return is_no_grad(node) and len(node.items) == 1 and node.items[0].optional_vars is None


def no_grad_above(function: ast.AST | None) -> ast.expr | None:
    """The decorator that turns gradients off for a function."""
    above = modes_at(function) if isinstance(function, FUNCTIONS) else []
    return next((mode for mode in above if mode_named(mode) == NO_GRAD), None)
