"""A source as codemods look at it: what stands where, told by the text, and by libcst where the text does not tell."""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from autodetach.node_types import DEFINITIONS
from autodetach.source import Edit, Source

if TYPE_CHECKING:
    import libcst as cst

    from autodetach.codemods.concrete import Concrete, Node


class Refused(Exception):
    """A codemod cannot make this edit as a careful person would; the text says why."""


class Tree:
    """The syntax of `source`; made once for all codemods of all candidates.

    `first` is what the lines of `tree`, its `ast`, are ahead of those of the file, where a program has several files.
    """

    def __init__(self, source: Source, tree: ast.Module, first: int = 0) -> None:
        self.source = source
        self._tree = tree
        self._first = first
        self._concrete: Concrete | None = None

    @property
    def concrete(self) -> Concrete:
        """Its libcst tree. Raises Refused where there is none."""
        if self._concrete is None:
            from autodetach.codemods.concrete import Concrete

            try:
                self._concrete = Concrete(self.source)
            except ValueError as error:
                raise Refused(str(error)) from error
        return self._concrete

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Byte offsets of an `ast` node. Raises Refused where it stands in another file."""
        try:
            return ast_span(self.source, node, self._first)
        except ValueError as error:
            raise Refused("what is to be edited stands in several files") from error

    def line(self, node: ast.stmt | ast.expr) -> int:
        """The line, from 1, in the file."""
        return node.lineno - self._first

    def text(self, node: ast.AST) -> str:
        """The text of an `ast` node as it stands in the source."""
        start, end = self.span(node)
        return self.source.raw[start:end].decode(self.source.encoding)

    def stands(self, node: ast.expr) -> bool:
        """Whether the text at the place of an expression is that expression, for certain.

        In a formatted string, Python 3.11 says of the same place that it is that of several expressions.
        """
        try:
            found = ast.parse(f"({self.text(node)}\n)", mode="eval").body
        except (SyntaxError, ValueError):
            return False
        return ast.dump(found) == ast.dump(node).replace("ctx=Store()", "ctx=Load()") and node not in self._formatted

    @cached_property
    def _formatted(self) -> frozenset[ast.AST]:
        """What stands in formatted strings."""
        if not re.search(rb"[fF][rR]?[\"']", self.source.raw):
            return frozenset()
        strings = (node for node in ast.walk(self._tree) if isinstance(node, ast.JoinedStr))
        return frozenset(inner for string in strings for inner in ast.walk(string))

    def expect(self, node: ast.expr) -> None:
        """Raise Refused where an expression is not found at its place."""
        if not self.stands(node):
            self.expression(node)

    def expression(self, node: ast.expr) -> cst.BaseExpression:
        """The expression at the place of an `ast` expression. Raises Refused."""
        found = self.concrete.expression(self.span(node))
        if found is None:
            raise Refused("the expression was not found in the concrete syntax")
        return found

    def call(self, node: ast.Call) -> cst.Call:
        """The call at the place of an `ast` call. Raises Refused."""
        self.expression(node)
        found = self.concrete.call(self.span(node))
        if found is None:
            raise Refused("the call was not found in the concrete syntax")
        return found

    def statement(self, node: ast.stmt) -> cst.BaseSmallStatement | cst.BaseCompoundStatement:
        """The statement at the place of an `ast` statement. Raises Refused."""
        start, end = self.span(node)
        if isinstance(node, DEFINITIONS) and node.decorator_list:
            start = min(start, self.span(node.decorator_list[0])[0])
        found = self.concrete.statement(start, end)
        if found is None:
            raise Refused("the statement was not found in the concrete syntax")
        return found

    def unit(self, near: ast.stmt) -> str:
        """By what a block is indented in this file: as in the last block that begins above a statement."""
        found: dict[int, str] = {}
        for node in ast.walk(self._tree):
            body = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and isinstance(body, list):
                outer, inner = (self.source.indent_of(self.line(s)) for s in (node, body[0]))
                if inner != outer and inner.startswith(outer):
                    found[self.line(node)] = inner[len(outer) :]
        above = [line for line in found if line < self.line(near)]
        return found[max(above) if above else min(found)] if found else "    "

    def company(self, node: ast.stmt) -> Literal["none", "statements", "header"]:
        """What shares its line with a statement: other statements, or the header of its block. Raises Refused."""
        if self._has_lines(node):
            return "none"
        import libcst as cst

        line = self.concrete.line_of(self.statement(node))
        if line is None:
            raise Refused("the statement stands in no line of its own")
        if isinstance(line, cst.SimpleStatementSuite):
            return "header"
        return "statements" if isinstance(line, cst.SimpleStatementLine) and len(line.body) > 1 else "none"

    def _has_lines(self, node: ast.stmt) -> bool:
        """Whether a statement has its lines for itself, for certain; comments may stand behind it."""
        source = self.source
        start, end = self.span(node)
        first, last = source.position(start).line, source.position(end).line
        before, after = source.raw[source.line_span(first).start : start], source.raw[end : source.line_span(last).end]
        above = source.line_text(first - 1) if first > 1 else ""
        return not before.strip(b" \t") and after.strip()[:1] in (b"", b"#") and not above.endswith("\\")

    def rewritten(self, old: Node, change: Callable[[Node], cst.CSTNode]) -> tuple[Edit, ...]:
        """The edit that turns `old` into what `change` makes of it, cut down to what differs."""
        before = self.concrete.module.code
        if before != self.source.cst_text:
            raise Refused("the concrete syntax does not give the text back")
        after = self.concrete.rewritten(old, change)
        head, tail = difference(before, after)
        if before == after:
            return ()
        begin, end = self._offset(before, head), self._offset(before, len(before) - tail)
        return (Edit(begin, end, after[head : len(after) - tail]),)

    def replaced(self, start: int, end: int, new: str) -> tuple[Edit, ...]:
        """The edit that puts ASCII text in the place of some bytes of ASCII, cut down to what differs."""
        before = self.source.raw[start:end].decode("ascii")
        head, tail = difference(before, new)
        return () if before == new else (Edit(start + head, end - tail, new[head : len(new) - tail]),)

    def _offset(self, text: str, index: int) -> int:
        *before, last = split_lines(text[:index] + ".")
        return self.source.offset_from_cst(len(before) + 1, len(last) - 1)


def difference(before: str, after: str) -> tuple[int, int]:
    """How many characters two texts have in common at their beginning, and of the rest at their end."""
    head, limit = 0, min(len(before), len(after))
    while head < limit and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < limit - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return head - (head > 0 and before[head - 1] == "\r"), tail


def split_lines(text: str) -> list[str]:
    """The lines of a text with their ends, as Python's grammar has them.

    `str.splitlines` ends one at a form feed or U+2028, too, which may stand in a string.
    """
    return io.StringIO(text, newline="").readlines()


def ast_span(source: Source, node: ast.AST, first: int = 0) -> tuple[int, int]:
    """Byte offsets of an `ast` node whose lines are `first` ahead. Raises ValueError where there is no such place."""
    line, col = getattr(node, "lineno", first + 1) - first, getattr(node, "col_offset", 0)
    end_line, end_col = getattr(node, "end_lineno", line + first) - first, getattr(node, "end_col_offset", col)
    return source.offset_from_ast(line, col), source.offset_from_ast(end_line, end_col)
