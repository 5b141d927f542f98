"""Some statements of an `if` moved further up or down, under a copy of its header; the others stay."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.move_statements import inside_strings, lines_of, reindented
from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class MovePartOfBranch:
    """Move `statements` of `branch` before or behind `anchor`, under an `if` of its test, and whole lines before them.

    `leading` are those, as what a name begins with that the branch binds. Comments right above a statement go with it.
    A blank line that stood above them goes below, where they go up.
    """

    branch: ast.If
    statements: tuple[ast.stmt, ...]
    anchor: ast.stmt
    leading: tuple[ast.stmt, ...] = ()
    before: bool = True

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        source = tree.source
        if any(tree.company(s) != "none" for s in (self.branch, self.anchor, *self.leading, *self.statements)):
            raise Refused("a statement to be moved shares its line with others")
        test = tree.text(self.branch.test)
        if not tree.text(self.branch).startswith("if") or "\n" in test or "\r" in test:
            raise Refused("the test of the branch cannot be written once more as it is")
        target = source.indent_of(tree.line(self.anchor))
        own = source.indent_of(tree.line(self.branch))
        inner = source.indent_of(tree.line(self.branch.body[0]))
        parts = [self._moved(tree, s, own, target) for s in self.leading]
        parts.append(f"{target}if {test}:\n")
        parts += (self._moved(tree, s, inner, target + inner[len(own) :]) for s in self.statements)
        removals = [Edit(*lines_of(tree, s), "") for s in (*self.leading, *self.statements)]
        if not self.before:
            end = source.line_span(source.position(tree.span(self.anchor)[1]).line).end
            body = "".join(parts)
            if not source.raw[:end].endswith((b"\n", b"\r")):
                body = "\n" + body.rstrip("\r\n")
            return (*removals, Edit(end, end, body))
        first = self.leading[0] if self.leading else self.branch
        above = source.position(lines_of(tree, first)[0]).line - 1
        if above > 0 and not source.line_text(above).strip():
            parts.append("\n")
        at = lines_of(tree, self.anchor)[0]
        return (*removals, Edit(at, at, "".join(parts)))

    def _moved(self, tree: Tree, statement: ast.stmt, old: str, new: str) -> str:
        source = tree.source
        begin, stop = lines_of(tree, statement)
        text = source.raw[begin:stop].decode(source.encoding)
        if not text.endswith(("\n", "\r")):
            text += "\n"
        first = statement.lineno - tree.line(statement) + source.position(begin).line
        return reindented(text, old, new, inside_strings(statement, first))
