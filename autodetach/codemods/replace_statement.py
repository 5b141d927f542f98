"""A statement replaced by others, given as text."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class ReplaceStatement:
    """Replace a statement by `text` (lines without indentation); an empty text removes its line.

    `{0}`, `{1}`, ... in the text stand for `parts` as they are written in the source.
    """

    statement: ast.stmt
    text: str
    parts: tuple[ast.expr, ...] = ()

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        source = tree.source
        start, end = tree.span(self.statement)
        crowded = tree.company(self.statement) != "none"
        text = self.text
        for i, part in enumerate(self.parts):
            text = text.replace(f"{{{i}}}", tree.text(part))
        if crowded and ("\n" in text or not text):
            raise Refused("the statement shares its line with others")
        if not text:
            first, last = source.position(start).line, source.position(end).line
            return (Edit(source.line_span(first).start, source.line_span(last).end, ""),)
        indent = source.indent_of(source.position(start).line)
        parts = text.split("\n")
        body = "\n".join([parts[0], *[indent + p if p else p for p in parts[1:]]])
        return (Edit(start, end, body),)
