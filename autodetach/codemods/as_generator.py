"""`[f(x) for x in xs]` -> `(f(x) for x in xs)`: elements that are computed when somebody asks for them."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.tree import Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class AsGenerator:
    """Put round brackets around a comprehension instead of square ones."""

    made: ast.ListComp

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        tree.expect(self.made)
        start, end = tree.span(self.made)
        return (Edit(start, start + 1, "("), Edit(end - 1, end, ")"))
