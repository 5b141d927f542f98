"""What in a program looks like a differentiation, by the names of what is called, and which functions lead there."""

from __future__ import annotations

import ast
from collections.abc import Collection, Set

from autodetach.kept import kept
from autodetach.machine.children import nodes_in, walk
from autodetach.machine.spelling import called_name
from autodetach.machine.words import DIFFERENTIATIONS

WALKING = DIFFERENTIATIONS | {"grad"}


@kept
def differentiates(node: ast.AST) -> bool:
    """Whether a call in it has the name of what differentiates."""
    return any(isinstance(n, ast.Call) and called_name(n) in WALKING for n in nodes_in(node))


@kept
def backward_calls(node: ast.AST) -> list[ast.Call]:
    """The calls in it that are spelled like `loss.backward()`, whether or not they are reached."""
    return [n for n in walk(node) if isinstance(n, ast.Call) and called_name(n) in DIFFERENTIATIONS]


def callers_of(names: Collection[str], functions: Collection[tuple[str, Set[str]]]) -> set[str]:
    """The functions that call what has one of some names, directly or not; each stands beside the names that it calls.

    Several may have the same name.
    """
    found: set[str] = set()
    more = set(names)
    while more:
        more = {name for name, called in functions if name not in found and not called.isdisjoint(more)}
        found |= more
    return found
