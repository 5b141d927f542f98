"""`self.scale = Parameter(x).exp()` -> `self.scale = Parameter(x)`, and `self.scale.exp()` where that is read."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.append_method import ATOMS
from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class KeepPart:
    """Leave only `part` of an expression, and do to each of `reads` what the expression did to its part.

    `closed`: in parentheses, where the expression is an operand.
    """

    expression: ast.expr
    part: ast.expr
    reads: tuple[ast.expr, ...]
    closed: bool = False

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        for one in (self.expression, self.part, *self.reads):
            tree.expect(one)
        start, end = tree.span(self.expression)
        inner, stop = tree.span(self.part)
        raw, encoding = tree.source.raw, tree.source.encoding
        before, behind = raw[start:inner].decode(encoding), raw[stop:end].decode(encoding)
        if "\n" in before + behind or "\r" in before + behind:
            raise Refused("what is done to the part stands on several lines")
        if not isinstance(self.expression, ATOMS):
            before, behind = f"({before}", f"{behind})"
        opening, closing = "()" if self.closed else ("", "")
        edits = [Edit(start, inner, opening), Edit(stop, end, closing)]
        for begin, close in map(tree.span, self.reads):
            edits += Edit(begin, begin, before), Edit(close, close, behind)
        return tuple(edit for edit in edits if edit.replacement or edit.start < edit.end)
