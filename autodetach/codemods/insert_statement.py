"""A new statement before or behind another one, in the same block."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from autodetach.codemods.tree import Refused, Tree
from autodetach.node_types import DEFINITIONS
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class InsertStatement:
    """Insert `text` (lines without indentation) next to `anchor`, indented as it is.

    `{0}`, `{1}`, ... in the text stand for `parts` as they are written in the source.
    """

    anchor: ast.stmt
    text: str
    where: Literal["before", "after"] = "after"
    parts: tuple[ast.expr, ...] = ()

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        source = tree.source
        start, end = tree.span(self.anchor)
        text = self.text
        for i, part in enumerate(self.parts):
            text = text.replace(f"{{{i}}}", tree.text(part))
        if tree.company(self.anchor) != "none":
            if "\n" in text:
                raise Refused("several lines do not go into a line with `;`")
            if self.where == "after":
                return (Edit(end, end, f"; {text}"),)
            return (Edit(start, start, f"{text}; "),)
        first = source.position(start).line
        if (
            isinstance(self.anchor, DEFINITIONS)
            and self.anchor.decorator_list
        ):
            first = min(tree.line(d) for d in self.anchor.decorator_list)
        indent = source.indent_of(first)
        body = "".join(f"{indent}{line}\n" if line else "\n" for line in text.split("\n"))
        if self.where == "before":
            at = source.line_span(first).start
            if first == 1:
                at = source.offset_from_ast(1, 0)
            return (Edit(at, at, body),)
        last = source.line_span(source.position(end).line)
        text_of_line = source.raw[last.start : last.end]
        if text_of_line.endswith((b"\n", b"\r")):
            return (Edit(last.end, last.end, body),)
        return (Edit(last.end, last.end, "\n" + body[:-1]),)
