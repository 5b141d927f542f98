"""What no run of a program has come to: the rest of a block, a way of an expression, the elements of a comprehension.

`if`, `while`, `match`, what handles an error, and what stands behind a jump; `a if n == 4 else b`, `n == 4 and a`,
`[a for _ in "x" if n == 4]`, `lambda: a`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import blocks_of, children_of, nodes_in
from autodetach.machine.run import Run
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import COMPREHENSIONS, DEFINITIONS

Owner = ast.stmt | ast.Lambda
"""What has expressions: a statement, or a lambda, which is one that returns."""


class Part(NamedTuple):
    """Statements of a block, or expressions that stand in an executed statement."""

    nodes: tuple[ast.AST, ...]
    owner: Owner | None = None


class Taken:
    """What the runs of a program have come to."""

    def __init__(self, runs: list[Run]) -> None:
        self._executed = [run.machine.executed for run in runs]
        self._chosen = [run.machine.chosen for run in runs]

    def has(self, statement: ast.stmt) -> bool:
        return any(statement in one for one in self._executed)

    def left_in(self, around: ast.AST) -> Iterator[Part]:
        """What was not taken in a loop or function; functions in it that nobody has called are no branches."""
        for node in nodes_in(around):
            for block in blocks_of(node):
                at = next((i for i, statement in enumerate(block) if not self.has(statement)), None)
                if at is not None and (at or not isinstance(node, DEFINITIONS)):
                    yield Part(tuple(block[at:]))
        for owner in self.met_in(around):
            for node in own_expressions(owner):
                left = [way for way in _ways(node) if not any(way in one for one in self._chosen)]
                if left:
                    yield Part((*left,), owner)

    def met_in(self, around: ast.AST) -> Iterator[Owner]:
        """The statements of a loop or function that were executed."""
        if isinstance(around, ast.Lambda):
            yield around
        yield from (node for node in nodes_in(around) if isinstance(node, ast.stmt) and self.has(node))


def own_expressions(owner: Owner) -> Iterator[ast.AST]:
    """All in it but what stands in the statements of its blocks."""
    for child in children_of(owner):
        if not isinstance(child, (ast.stmt, ast.excepthandler)):
            yield from nodes_in(child) if not isinstance(child, ast.match_case) else _of_case(child)


def _of_case(case: ast.match_case) -> Iterator[ast.AST]:
    yield from nodes_in(case.pattern)
    if case.guard is not None:
        yield from nodes_in(case.guard)


def _ways(node: ast.AST) -> list[ast.expr]:
    """What a test may leave out in an expression; a comprehension stands for its elements."""
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values[1:]
    if isinstance(node, ast.Lambda):
        return [node.body]
    return [node] if isinstance(node, COMPREHENSIONS) else []
