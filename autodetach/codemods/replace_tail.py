"""`loss.data[0]` -> `loss.item()`: what stands behind the head of an expression."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit

_COMMENT = re.compile(rb"#[^\r\n]*")
_CLOSING = re.compile(rb"(?:\s|\\|#[^\r\n]*)*\)")


@dataclass(frozen=True, eq=False, slots=True)
class ReplaceTail:
    """Replace what follows `head` in `expression`, closing parentheses of the head excepted, by `tail`."""

    expression: ast.expr
    head: ast.expr
    tail: str

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        tree.expect(self.expression)
        begin, end = tree.span(self.expression)
        first, start = tree.span(self.head)
        raw = tree.source.raw
        for _ in range(_COMMENT.sub(b"", raw[begin:first]).count(b"(")):
            closing = _CLOSING.match(raw, start)
            if closing is None:
                raise Refused("the parentheses are around more than the head")
            start = closing.end()
        if b"#" in raw[start:end]:
            raise Refused("a comment stands in what is to be replaced")
        return (Edit(start, end, self.tail),)
