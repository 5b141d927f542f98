"""A decorator removed, with its line."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class DropDecorator:
    """Remove the whole lines of a decorator."""

    decorator: ast.expr

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        source = tree.source
        start, end = tree.span(self.decorator)
        first, last = source.position(start).line, source.position(end).line
        if source.line_text(first).strip()[:1] != "@":
            raise Refused("the decorator does not stand in a line of its own")
        return (Edit(source.line_span(first).start, source.line_span(last).end, ""),)
