"""Statements repeated further down, in the same block or one inside of it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods import Codemod
from autodetach.codemods.append_method import AppendMethod
from autodetach.codemods.move_statements import edited, inside_strings, reindented
from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class CopyStatements:
    """Write `statements` once more, in order, before `anchor`, indented as it is, with some expressions `detached`.

    `changes` are made in the copy.
    """

    statements: tuple[ast.stmt, ...]
    anchor: ast.stmt
    detached: tuple[ast.expr, ...] = ()
    changes: tuple[Codemod, ...] = ()

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        source = tree.source
        for statement in (*self.statements, self.anchor):
            if tree.company(statement) != "none":
                raise Refused("a statement shares its line with others")
        copies = []
        codemods = (*self.changes, *(AppendMethod(one, "detach") for one in self.detached))
        changes = [edit for codemod in codemods for edit in codemod.edits(tree)]
        indent = source.indent_of(tree.line(self.anchor))
        for statement in self.statements:
            begin = source.line_span(tree.line(statement)).start
            stop = tree.span(statement)[1]
            text = edited(source.raw, begin, stop, changes).decode(source.encoding)
            own = source.indent_of(tree.line(statement))
            copies.append(reindented(text + "\n", own, indent, inside_strings(statement, statement.lineno)))
        at = source.line_span(tree.line(self.anchor)).start
        return (Edit(at, at, "".join(copies)),)
