"""A libcst tree of a source, in which nodes are found by the places that `ast` gives them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TypeVar

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider

from autodetach.source import Edit, Source

Node = TypeVar("Node", bound=cst.CSTNode)


class Refused(Exception):
    """A codemod cannot make this edit as a careful person would; the text says why."""


class Tree:
    """The concrete syntax of `source`; made once for all codemods of a candidate.

    `first` is what the lines of its `ast` are ahead of those of the file, where a program has several files.
    """

    def __init__(self, source: Source, first: int = 0) -> None:
        self.source = source
        self._first = first
        try:
            wrapper = MetadataWrapper(cst.parse_module(source.cst_text), unsafe_skip_copy=True)
            self._positions = wrapper.resolve(PositionProvider)
            self._parents = wrapper.resolve(ParentNodeProvider)
        except (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError) as error:
            raise Refused(f"libcst cannot read this file: {type(error).__name__}") from error
        self.module = wrapper.module
        self._by_span: dict[tuple[int, int], list[cst.CSTNode]] = {}
        for node, place in self._positions.items():
            start = source.offset_from_cst(place.start.line, place.start.column)
            end = source.offset_from_cst(place.end.line, place.end.column)
            self._by_span.setdefault((start, end), []).append(node)

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

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._parents.get(node)

    def expression(self, node: ast.expr) -> cst.BaseExpression:
        """The expression at the place of an `ast` expression. Raises Refused."""
        for found in self._by_span.get(self.span(node), ()):
            if isinstance(found, cst.BaseExpression):
                return found
        raise Refused("the expression was not found in the concrete syntax")

    def call(self, node: ast.Call) -> cst.Call:
        found = self.expression(node)
        if isinstance(found, cst.Call):
            return found
        for other in self._by_span.get(self.span(node), ()):
            if isinstance(other, cst.Call):
                return other
        raise Refused("the call was not found in the concrete syntax")

    def statement(self, node: ast.stmt) -> cst.BaseSmallStatement | cst.BaseCompoundStatement:
        start, end = self.span(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.decorator_list:
            start = min(start, self.span(node.decorator_list[0])[0])
        kinds = (cst.BaseSmallStatement, cst.BaseCompoundStatement)
        for found in self._by_span.get((start, end), ()):
            if isinstance(found, kinds):
                return found
        for (s, _), nodes in self._by_span.items():
            if s == start:
                for found in nodes:
                    if isinstance(found, kinds):
                        return found
        raise Refused("the statement was not found in the concrete syntax")

    def line_of(self, node: ast.stmt) -> cst.SimpleStatementLine | cst.SimpleStatementSuite | cst.BaseCompoundStatement:
        """The whole logical line (or block) that a statement stands in."""
        found: cst.CSTNode | None = self.statement(node)
        if isinstance(found, cst.BaseCompoundStatement):
            return found
        found = self.parent(found) if found is not None else None
        if isinstance(found, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            return found
        raise Refused("the statement stands in no line of its own")

    def code(self, node: cst.CSTNode) -> str:
        return self.module.code_for_node(node)

    def rewritten(self, old: Node, change: Callable[[Node], cst.CSTNode]) -> tuple[Edit, ...]:
        """The edit that turns `old` into what `change` makes of it, cut down to what differs."""
        before = self.module.code
        if before != self.source.cst_text:
            raise Refused("the concrete syntax does not give the text back")
        changed = self.module.deep_replace(old, change(old))
        assert isinstance(changed, cst.Module)
        return self._trimmed(before, changed.code)

    def _trimmed(self, before: str, after: str) -> tuple[Edit, ...]:
        """One edit for the part in which two texts of the module differ; none if they are equal."""
        if before == after:
            return ()
        head, limit = 0, min(len(before), len(after))
        while head < limit and before[head] == after[head]:
            head += 1
        tail = 0
        while tail < limit - head and before[-1 - tail] == after[-1 - tail]:
            tail += 1
        if head and before[head - 1] == "\r":
            head -= 1
        begin, end = self._offset(before, head), self._offset(before, len(before) - tail)
        return (Edit(begin, end, after[head : len(after) - tail]),)

    def _offset(self, text: str, index: int) -> int:
        lines = _LINE.split(text[:index])
        return self.source.offset_from_cst(len(lines), len(lines[-1]))


_LINE = re.compile(r"\r\n|\r|\n")


def ast_span(source: Source, node: ast.AST, first: int = 0) -> tuple[int, int]:
    """Byte offsets of an `ast` node whose lines are `first` ahead. Raises ValueError where there is no such place."""
    line, col = getattr(node, "lineno", first + 1) - first, getattr(node, "col_offset", 0)
    end_line, end_col = getattr(node, "end_lineno", line + first) - first, getattr(node, "end_col_offset", col)
    return source.offset_from_ast(line, col), source.offset_from_ast(end_line, end_col)
