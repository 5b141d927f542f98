"""Names that a repair may bind, since nothing in a file has them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import walk
from autodetach.node_types import NAMING


def free_name(tree: ast.AST, *wishes: str) -> str | None:
    """The first of the names that nothing under `tree` binds, imports or reads."""
    taken = set(names_in(tree))
    return next((name for name in wishes if name not in taken), None)


def names_in(tree: ast.AST) -> Iterator[str]:
    """All names under a node: variables, parameters, functions, classes, imports, and those that patterns bind."""
    for node in walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from node.names
        else:
            yield from filter(None, [bound_otherwise(node)])


def bound_otherwise(node: ast.AST) -> str | None:
    """What an import, a definition, an exception that is caught or a pattern binds, which no `Name` tells."""
    if isinstance(node, ast.alias):
        return (node.asname or node.name).partition(".")[0]
    if isinstance(node, ast.MatchMapping):
        return node.rest
    if isinstance(node, NAMING):
        return node.name
    return None
