"""What is found out once about a syntax node, and kept with it: trees outlive many runs and rules, and syntax nodes
have room for attributes of others. Where what stands in a node is edited, `forget` it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)
Found = TypeVar("Found")

_FIELDS: list[str] = []


def kept(find: Callable[[Node], Found]) -> Callable[[Node], Found]:
    """A decorator: the function is asked once for each node."""
    field = _field(find)
    _FIELDS.append(field)

    @wraps(find)
    def ask(node: Node) -> Found:
        try:
            found: Found = node.__dict__[field]
        except KeyError:
            found = node.__dict__[field] = find(node)
        return found

    return ask


def keep(find: Callable[[Node], Found], node: Node, found: Found) -> None:
    """Let a function that is `kept` answer this for a node, if it was not asked for it yet."""
    vars(node).setdefault(_field(find), found)


def forget(node: ast.AST, *finds: Callable[..., object]) -> None:
    """Let functions, by default all, be asked anew for a node."""
    for field in map(_field, finds) if finds else _FIELDS:
        vars(node).pop(field, None)


def _field(find: Callable[..., object]) -> str:
    return f"_{find.__module__}.{find.__qualname__}"
