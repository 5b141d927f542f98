"""`if key not in cache: cache[key] = f(x)` becomes `cache[key] = f(x)`: the body takes the place of the statement."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from autodetach.codemods.move_statements import inside_strings, reindented
from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class DropGuard:
    """Replace an `if` without `else`, or a `with`, by its body, with the comments in it."""

    statement: ast.If | ast.With

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        source = tree.source
        tree.company(self.statement)
        first = self.statement.body[0]
        start, end = tree.span(self.statement)
        head, last = source.position(start).line, source.position(end).line
        indent = source.indent_of(head)
        if source.line_text(head)[len(indent) :].startswith("elif"):
            raise Refused("the test is a part of a chain of tests")
        begin = source.position(tree.span(first)[0]).line
        colon = colon_behind(source.raw, tree.span(_asked(self.statement))[1])
        header = source.position(colon).line
        if begin == header:
            return (Edit(start, tree.span(first)[0], ""),)
        above = source.line_span(header).end
        text = source.raw[above : source.line_span(last).end].decode(source.encoding)
        ahead = self.statement.lineno - tree.line(self.statement)
        strings = {n for s in self.statement.body for n in inside_strings(s, header + 1 + ahead)}
        note = source.raw[colon + 1 : above].decode(source.encoding).strip()
        if note:
            text = f"{source.indent_of(begin)}{note}\n{text}"
            strings = {n + 1 for n in strings}
        body = reindented(text, source.indent_of(begin), indent, strings)
        return (Edit(source.line_span(head).start, source.line_span(last).end, body),)


def _asked(statement: ast.If | ast.With) -> ast.expr:
    """What stands in front of the colon."""
    if isinstance(statement, ast.If):
        return statement.test
    return statement.items[-1].optional_vars or statement.items[-1].context_expr


def colon_behind(raw: bytes, end: int) -> int:
    """Byte offset of the colon behind the test that ends at `end`. Raises Refused."""
    match = re.compile(rb"[\s)\\]*").match(raw, end)
    at = end if match is None else match.end()
    if raw[at : at + 1] != b":":
        raise Refused("a comment stands between the test and its colon")
    return at
