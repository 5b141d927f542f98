"""A `with` around a loop entered in each of its passes instead."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.drop_guard import colon_behind
from autodetach.codemods.move_statements import inside_strings, reindented
from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class EnterInside:
    """Put the block of `loop`, which stands somewhere in that of `statement`, under this `with`, and nothing else."""

    statement: ast.With
    loop: ast.For | ast.While

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        source, statement, loop = tree.source, self.statement, self.loop
        inner = loop.body[0]
        for one in (statement, loop, inner, loop.body[-1], statement.body[0]):
            if tree.company(one) != "none":
                raise Refused("a statement shares its line with others")
        head = tree.line(statement)
        context = statement.items[-1]
        end = tree.span(context.optional_vars or context.context_expr)[1]
        if source.position(colon_behind(source.raw, end)).line != head:
            raise Refused("the head of the block takes several lines")
        asked = loop.iter if isinstance(loop, ast.For) else loop.test
        loop_head = source.position(colon_behind(source.raw, tree.span(asked)[1])).line
        last = source.position(tree.span(loop.body[-1])[1]).line
        stop = source.position(tree.span(statement)[1]).line

        outer, indent = source.indent_of(head), source.indent_of(tree.line(statement.body[0]))
        strings = inside_strings(statement, statement.lineno + 1)
        above, text = _between(tree, head, loop_head), _between(tree, loop_head, last)
        below = _between(tree, last, stop)
        entered = outer + source.indent_of(tree.line(inner))[len(indent) :] + source.line_text(head)[len(outer) :]
        whole = (
            reindented(above, indent, outer, strings)
            + f"{entered.rstrip()}\n"
            + text
            + reindented(below, indent, outer, {n - (last - head) for n in strings})
        )
        return (Edit(source.line_span(head).start, source.line_span(stop).end, whole),)


def _between(tree: Tree, line: int, last: int) -> str:
    """The lines behind one, up to another."""
    source = tree.source
    raw = source.raw[source.line_span(line).end : source.line_span(last).end]
    return raw.decode(source.encoding)
