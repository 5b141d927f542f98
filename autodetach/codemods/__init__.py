"""Small rewrites, one file each. They are given nodes, know no rule and no machine, and return edits.

A codemod is a frozen dataclass with `edits(tree) -> tuple[Edit, ...]`; it raises `Refused` where it cannot make the
edit as a careful person would. Importing this package does not import libcst; its modules do, except `tree` for types.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Protocol

from autodetach.source import Edit

if TYPE_CHECKING:
    from autodetach.codemods.tree import Tree


class Codemod(Protocol):
    """What every codemod is."""

    def edits(self, tree: Tree) -> tuple[Edit, ...]: ...


def target_of(codemod: Codemod) -> ast.AST | None:
    """The first node that a codemod is given: it tells which file is edited."""
    for name in getattr(codemod, "__slots__", ()):
        value = getattr(codemod, name)
        first = value[0] if isinstance(value, tuple) and value else value
        if isinstance(first, ast.AST):
            return first
    return None


__all__ = ["Codemod", "Edit", "target_of"]
