"""A statement replaced by others, given as text."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import libcst as cst

from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class ReplaceStatement:
    """Replace a statement by `text` (lines without indentation); an empty text removes its line."""

    statement: ast.stmt
    text: str

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        source = tree.source
        start, end = tree.span(self.statement)
        line = tree.line_of(self.statement)
        crowded = isinstance(line, cst.SimpleStatementSuite) or (
            isinstance(line, cst.SimpleStatementLine) and len(line.body) > 1
        )
        if crowded and ("\n" in self.text or not self.text):
            raise Refused("the statement shares its line with others")
        if not self.text:
            first, last = source.position(start).line, source.position(end).line
            return (Edit(source.line_span(first).start, source.line_span(last).end, ""),)
        indent = source.indent_of(source.position(start).line)
        parts = self.text.split("\n")
        body = "\n".join([parts[0], *[indent + p if p else p for p in parts[1:]]])
        return (Edit(start, end, body),)
