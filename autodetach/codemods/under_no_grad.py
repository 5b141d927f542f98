"""Statements put under `with torch.no_grad():`, or another context."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from autodetach.codemods.move_statements import edited, inside_strings, reindented
from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class UnderNoGrad:
    """Indent `statements`, which follow one another in a block, under a `with`."""

    statements: tuple[ast.stmt, ...]
    context: str = "torch.no_grad()"

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        return (under_no_grad(tree, self.statements, context=self.context),)


def under_no_grad(
    tree: Tree,
    statements: tuple[ast.stmt, ...],
    changes: Iterable[Edit] = (),
    behind: Iterable[str] = (),
    context: str = "torch.no_grad()",
) -> Edit:
    """The edit that puts statements under `context`, with `changes` made in them, and the lines `behind` the block.

    Raises Refused.
    """
    source = tree.source
    first, last = statements[0], statements[-1]
    for statement in statements:
        if tree.company(statement) != "none":
            raise Refused("a statement shares its line with others")
    begin = source.line_span(tree.line(first)).start
    stop = source.line_span(source.position(tree.span(last)[1]).line).end
    indent = source.indent_of(tree.line(first))
    text = edited(source.raw, begin, stop, list(changes)).decode(source.encoding)
    strings = {n for s in statements for n in inside_strings(s, first.lineno)}
    body = reindented(text, indent, indent + tree.unit(first), strings)
    if not body.endswith(("\n", "\r")):
        body += "\n"
    block = f"{indent}with {context}:\n{body}" + "".join(f"{indent}{line}\n" for line in behind)
    if not text.endswith(("\n", "\r")):
        block = block[:-1]
    return Edit(begin, stop, block)
