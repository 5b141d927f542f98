"""Statements repeated further down, in the same block or one inside of it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.append_method import AppendMethod
from autodetach.codemods.move_statements import edited, inside_strings, reindented
from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class CopyStatements:
    """Write `statements` once more, in order, before `anchor`, indented as it is, with some expressions `detached`."""

    statements: tuple[ast.stmt, ...]
    anchor: ast.stmt
    detached: tuple[ast.expr, ...] = ()

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        source = tree.source
        for statement in (*self.statements, self.anchor):
            if tree.company(statement) != "none":
                raise Refused("a statement shares its line with others")
        copies = []
        changes = [edit for one in self.detached for edit in AppendMethod(one, "detach").edits(tree)]
        indent = source.indent_of(tree.line(self.anchor))
        for statement in self.statements:
            begin = source.line_span(tree.line(statement)).start
            stop = tree.span(statement)[1]
            text = edited(source.raw, begin, stop, changes).decode(source.encoding)
            own = source.indent_of(tree.line(statement))
            copies.append(reindented(text + "\n", own, indent, inside_strings(statement, statement.lineno)))
        at = source.line_span(tree.line(self.anchor)).start
        return (Edit(at, at, "".join(copies)),)
