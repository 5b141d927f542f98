"""The loops around a line: read off the source of its file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from autodetach.doctor.reading import tree_of
from autodetach.node_types import DEFINITIONS, LOOPS


@dataclass(frozen=True, slots=True)
class Loop:
    """A `for` or a `while` of a file: its lines from 1, that of its head, of the first statement in it and of the last
    one; `targets` are the plain names that a `for` binds, `function` that of a frame which runs it, where known."""

    path: str
    head: int
    first: int
    last: int
    targets: tuple[str, ...] = ()
    function: str = ""

    def has(self, line: int) -> bool:
        """Whether the line is in its body."""
        return self.first <= line <= self.last


def loops_around(path: str, line: int) -> tuple[Loop, ...]:
    """The loops in whose bodies the line is, the innermost first; none outside the function that the line is in."""
    tree = tree_of(path)
    return _around(tree, path, line) if tree is not None else ()


@lru_cache(256)
def _around(tree: ast.Module, path: str, line: int) -> tuple[Loop, ...]:
    return tuple(_outwards(tree, path, line))


def _outwards(node: ast.AST, path: str, line: int) -> Iterator[Loop]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)) or not _has(child, line):
            continue
        yield from _outwards(child, path, line)
        if isinstance(child, LOOPS):
            body = child.body
            targets = () if isinstance(child, ast.While) else tuple(_names(child.target))
            loop = Loop(path, child.lineno, body[0].lineno, body[-1].end_lineno or body[-1].lineno, targets)
            if loop.has(line) and not _in_function(child.body, line):
                yield loop


def _has(node: ast.AST, line: int) -> bool:
    if isinstance(node, ast.match_case):
        return any(_has(statement, line) for statement in node.body)
    first = getattr(node, "lineno", 0)
    return bool(first <= line <= (getattr(node, "end_lineno", None) or first))


def _in_function(body: list[ast.stmt], line: int) -> bool:
    """Whether the line is in a function that is defined in these statements."""
    kinds = DEFINITIONS
    return any(
        isinstance(node, kinds) and node.body[0].lineno <= line <= (node.end_lineno or node.lineno)
        for statement in body
        for node in ast.walk(statement)
    )


def _names(target: ast.expr) -> Iterator[str]:
    for node in ast.walk(target):
        if isinstance(node, ast.Name):
            yield node.id
