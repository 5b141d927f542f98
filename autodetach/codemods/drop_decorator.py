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
        text = source.line_text(first)
        if text.strip()[:1] != "@":
            raise Refused("the decorator does not stand in a line of its own")
        # A form feed before it divides pages, and stays.
        begin = source.line_span(first).start + text[: text.index("@")].rfind("\f") + 1
        return (Edit(begin, source.line_span(last).end, ""),)
