"""Statements moved, with their comments, into the block of a loop or function, or behind another statement."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods import Codemod
from autodetach.codemods.tree import Refused, Tree, split_lines
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class MoveStatements:
    """Move whole lines, in order, to stand before or behind `anchor`, re-indented to its block.

    Comment lines right above a statement and comments behind it go with it. `changes` are made in what moves. If
    that is a `paragraph`, it goes above the comment of `anchor`, and the blank line that stood above it, below it.
    """

    statements: tuple[ast.stmt, ...]
    anchor: ast.stmt
    before: bool = True
    changes: tuple[Codemod, ...] = ()
    paragraph: bool = False

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        source = tree.source
        if tree.company(self.anchor) == "header":
            raise Refused("the block of the loop stands in the loop's own line")
        first = source.position(tree.span(self.anchor)[0]).line
        target_indent = source.indent_of(first)
        moved: list[str] = []
        changes = [edit for change in self.changes for edit in change.edits(tree)]
        removals: list[Edit] = []
        for statement in self.statements:
            if tree.company(statement) != "none":
                raise Refused("a statement to be moved shares its line with others")
            begin, stop = lines_of(tree, statement)
            text = edited(source.raw, begin, stop, changes).decode(source.encoding)
            if not text.endswith(("\n", "\r")):
                text += "\n"
            own = tree.line(statement)
            indent = source.indent_of(source.position(tree.span(statement)[0]).line)
            moved.append(
                reindented(
                    text,
                    indent,
                    target_indent,
                    inside_strings(statement, statement.lineno - own + source.position(begin).line),
                )
            )
            removals.append(Edit(begin, stop, ""))
        body = "".join(moved)
        if self.paragraph and removals:
            above = source.position(removals[0].start).line - 1
            if above > 0 and not source.line_text(above).strip():
                blank = source.line_span(above)
                removals[0] = Edit(blank.start, removals[0].end, "")
                body += source.raw[blank.start : blank.end].decode(source.encoding)
            at = lines_of(tree, self.anchor)[0]
            return (*removals, Edit(at, at, body))
        if self.before:
            at = self._above(tree, first)
            return (*removals, Edit(at, at, body))
        last = source.line_span(source.position(tree.span(self.anchor)[1]).line)
        if not source.raw[last.start : last.end].endswith((b"\n", b"\r")):
            return (*removals, Edit(last.end, last.end, "\n" + body.rstrip("\r\n")))
        return (*removals, Edit(last.end, last.end, body))

    def _above(self, tree: Tree, line: int) -> int:
        """Byte offset of the line, or of the comment lines right above it that belong to the same block."""
        return tree.source.line_span(line).start


def lines_of(tree: Tree, statement: ast.stmt) -> tuple[int, int]:
    """Byte offsets of the lines of a statement, with the comment lines right above it."""
    source = tree.source
    start, end = tree.span(statement)
    first, last = source.position(start).line, source.position(end).line
    indent = source.indent_of(first)
    while first > 1:
        above = source.line_text(first - 1)
        if (
            not above.strip().startswith("#")
            or source.indent_of(first - 1) != indent
            or above.startswith(("#!", "# %%", "#%%"))
        ):
            break
        if "coding" in above and first - 1 <= 2:
            break
        first -= 1
    return source.line_span(first).start, source.line_span(last).end


def inside_strings(statement: ast.stmt, first_line: int) -> set[int]:
    """Lines, counted from 0 in the moved text, that begin inside a string and must keep their white space.

    `first_line` is the line, as `ast` counts, in which the text begins.
    """
    inside: set[int] = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno is not None:
            inside.update(range(node.lineno + 1 - first_line, node.end_lineno + 1 - first_line))
    return inside


def reindented(text: str, old: str, new: str, protected: set[int]) -> str:
    """Whole lines with another indentation; `protected` lines keep theirs. Raises Refused."""
    if "\x0c" in text:
        raise Refused("a form feed stands in the statements to be moved")
    result = []
    for i, line in enumerate(split_lines(text)):
        if i in protected or not line.strip():
            result.append(line)
        elif line.startswith(old):
            result.append(new + line[len(old) :])
        else:
            result.append(line)
    return "".join(result)


def edited(raw: bytes, begin: int, stop: int, edits: list[Edit]) -> bytes:
    """The bytes from `begin` to `stop`, with those edits that lie there."""
    part = raw[begin:stop]
    for edit in sorted((e for e in edits if begin <= e.start and e.end <= stop), key=lambda e: e.start, reverse=True):
        part = part[: edit.start - begin] + edit.replacement.encode() + part[edit.end - begin :]
    return part
