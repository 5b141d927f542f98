"""A libcst tree of a source, in which nodes are found by the byte offsets that `ast` gives them.

Importing libcst costs more than checking most files: `tree` asks for this only where the text alone does not tell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider

from autodetach.source import Source

Node = TypeVar("Node", bound=cst.CSTNode)
Line = cst.SimpleStatementLine | cst.SimpleStatementSuite | cst.BaseCompoundStatement


class Concrete:
    """The concrete syntax of `source`. Raises ValueError where libcst cannot read it."""

    def __init__(self, source: Source) -> None:
        try:
            wrapper = MetadataWrapper(cst.parse_module(source.cst_text), unsafe_skip_copy=True)
            self._positions = wrapper.resolve(PositionProvider)
        except (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError) as error:
            raise ValueError(f"libcst cannot read this file: {type(error).__name__}") from error
        self._wrapper = wrapper
        self.module = wrapper.module
        self._by_span: dict[tuple[int, int], list[cst.CSTNode]] = {}
        for node, place in self._positions.items():
            start = source.offset_from_cst(place.start.line, place.start.column)
            end = source.offset_from_cst(place.end.line, place.end.column)
            self._by_span.setdefault((start, end), []).append(node)

    def expression(self, span: tuple[int, int]) -> cst.BaseExpression | None:
        """The outermost expression at a place."""
        return next((found for found in self._by_span.get(span, ()) if isinstance(found, cst.BaseExpression)), None)

    def call(self, span: tuple[int, int]) -> cst.Call | None:
        """The call at a place."""
        return next((found for found in self._by_span.get(span, ()) if isinstance(found, cst.Call)), None)

    def statement(self, start: int, end: int) -> cst.BaseSmallStatement | cst.BaseCompoundStatement | None:
        """The statement at a place; where its end is told otherwise, one that begins there."""
        kinds = (cst.BaseSmallStatement, cst.BaseCompoundStatement)
        for found in self._by_span.get((start, end), ()):
            if isinstance(found, kinds):
                return found
        for (s, _), nodes in self._by_span.items():
            if s == start:
                for found in nodes:
                    if isinstance(found, kinds):
                        return found
        return None

    def line_of(self, statement: cst.BaseSmallStatement | cst.BaseCompoundStatement) -> Line | None:
        """The whole logical line (or block) that a statement stands in."""
        if isinstance(statement, cst.BaseCompoundStatement):
            return statement
        found = self._wrapper.resolve(ParentNodeProvider).get(statement)
        return found if isinstance(found, (cst.SimpleStatementLine, cst.SimpleStatementSuite)) else None

    def rewritten(self, old: Node, change: Callable[[Node], cst.CSTNode]) -> str:
        """The text of the module with `old` changed."""
        changed = self.module.deep_replace(old, change(old))
        assert isinstance(changed, cst.Module)
        return changed.code
