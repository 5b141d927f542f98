"""One of several contexts that a `with` enters is left out."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class DropContext:
    """Make `with a, b:` enter all but one of its contexts."""

    statement: ast.With | ast.AsyncWith
    item: ast.withitem

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        items = self.statement.items
        at = items.index(self.item)
        if len(items) == 1:
            raise Refused("it is the only context")
        spans = [(tree.span(i.context_expr)[0], tree.span(i.optional_vars or i.context_expr)[1]) for i in items]
        left, right = (at - 1, at) if at else (0, 1)
        between = tree.source.raw[spans[left][1] : spans[right][0]]
        if not re.fullmatch(rb"\s*,\s*", between):
            raise Refused("more than a comma stands between two contexts")
        return (Edit(spans[at - 1][1], spans[at][1], "") if at else Edit(spans[0][0], spans[1][0], ""),)
