"""Statements repeated further down, in the same block or one inside of it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods import Codemod
from autodetach.codemods.append_method import AppendMethod
from autodetach.codemods.move_statements import edited, inside_strings, reindented
from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit

SHORT = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
"""Statements that may stand in a line with others."""


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
        codemods = (*self.changes, *(AppendMethod(one, "detach") for one in self.detached))
        changes = [edit for codemod in codemods for edit in codemod.edits(tree)]
        start, first = tree.span(self.anchor)[0], tree.line(self.anchor)
        line = source.line_span(first).start
        is_first = not source.raw[line:start].strip(b" \t")
        goes_on = first > 1 and source.line_text(first - 1).rstrip("\r\n").endswith("\\")
        if tree.company(self.anchor) != "none" and (goes_on or not is_first):
            short = "".join(f"{_in_one_line(tree, statement, changes)}; " for statement in self.statements)
            return (Edit(start, start, short),)
        indent = source.indent_of(first)
        copies = []
        for statement in self.statements:
            if tree.company(statement) != "none":
                copies.append(f"{indent}{_in_one_line(tree, statement, changes)}\n")
                continue
            begin = source.line_span(tree.line(statement)).start
            stop = tree.span(statement)[1]
            text = edited(source.raw, begin, stop, changes).decode(source.encoding)
            own = source.indent_of(tree.line(statement))
            copies.append(reindented(text + "\n", own, indent, inside_strings(statement, statement.lineno)))
        return (Edit(line, line, "".join(copies)),)


def _in_one_line(tree: Tree, statement: ast.stmt, changes: list[Edit]) -> str:
    """A statement as it goes into a line with others. Raises Refused."""
    text = edited(tree.source.raw, *tree.span(statement), changes).decode(tree.source.encoding)
    if not isinstance(statement, SHORT) or "\n" in text or "\r" in text:
        raise Refused("a statement of several lines does not go where it shares its line with others")
    return text
