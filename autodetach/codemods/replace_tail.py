"""`loss.data[0]` -> `loss.item()`: what stands behind the head of an expression."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.tree import Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class ReplaceTail:
    """Replace what follows `head` in `expression`, closing parentheses of the head excepted, by `tail`."""

    expression: ast.expr
    head: ast.expr
    tail: str

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        tree.expect(self.expression)
        start = tree.span(self.head)[1]
        end = tree.span(self.expression)[1]
        raw = tree.source.raw
        while raw[start : start + 1] == b")":
            start += 1
        return (Edit(start, end, self.tail),)
