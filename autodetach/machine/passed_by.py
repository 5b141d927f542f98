"""Differentiations that a path has passed by, and the tests whose other way leads to them.

A script trains in one of several ways, `if args.model == "vae": ... loss.backward()`, of which its defaults choose one
or none: what the others do is seen only where such a test goes the other way.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Sequence

from autodetach.kept import kept
from autodetach.machine.children import children_of, statements_in
from autodetach.machine.oracle import Decision, Oracle, TestKey
from autodetach.machine.spelling import names_called
from autodetach.machine.walking import callers_of
from autodetach.machine.words import DIFFERENTIATIONS
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import DEFINITIONS, FUNCTIONS


class _Way(NamedTuple):
    """What is run, beginning with a statement, if a test goes one way, and the last words of what is called there."""

    test: ast.If
    first: ast.stmt
    words: frozenset[str]


class _Ways(NamedTuple):
    """All of a file, and its functions, by the name and the words of each."""

    ways: tuple[_Way, ...]
    functions: tuple[tuple[str, frozenset[str]], ...]


class PassedBy(NamedTuple):
    """Tests behind which there is such a differentiation, by their lines, or by where they have been decided before."""

    lines: frozenset[int]
    decided: frozenset[TestKey]

    def lie_behind(self, decision: Decision) -> bool:
        return decision.line in self.lines or decision.key in self.decided


def passed_by(
    trees: Iterable[ast.Module], executed: Container[ast.AST], called: Iterable[str], oracle: Oracle
) -> PassedBy:
    """What a path has passed by which has `executed` these statements; the program has `called` these functions."""
    found = [_ways_in(tree) for tree in trees]
    known = {name.rpartition(".")[2] for name in called}
    functions = [one for ways in found for one in ways.functions if one[0] not in known]
    names = callers_of(DIFFERENTIATIONS, functions) | DIFFERENTIATIONS
    tests = [
        way.test
        for ways in found
        for way in ways.ways
        if not way.words.isdisjoint(names) and way.test in executed and way.first not in executed
    ]
    lines = {line for t in tests for line in range(t.test.lineno, (t.test.end_lineno or t.test.lineno) + 1)}
    return PassedBy(frozenset(lines), frozenset(key for t in tests if (key := oracle.settled_by(t)) is not None))


@kept
def _ways_in(tree: ast.Module) -> _Ways:
    look = _Look()
    look.block(tree.body)
    return _Ways(tuple(look.ways), tuple(look.functions))


class _Look:
    """One look at the statements of a file."""

    def __init__(self) -> None:
        self.ways: list[_Way] = []
        self.functions: list[tuple[str, frozenset[str]]] = []

    def block(self, block: Sequence[ast.stmt]) -> frozenset[str]:
        """The last words of what is called in a block, without what stands in functions there."""
        words: frozenset[str] = frozenset()  # of what is behind the statement
        behind: ast.stmt | None = None
        for statement in reversed(block):
            if behind is not None and isinstance(statement, ast.If):
                self._way(statement, behind, words)
            words |= self._statement(statement)
            behind = statement
        return words

    def _statement(self, statement: ast.stmt) -> frozenset[str]:
        if isinstance(statement, DEFINITIONS):
            words = self.block(statement.body)
            if isinstance(statement, FUNCTIONS):
                self.functions.append((statement.name, words))
            return frozenset()
        if isinstance(statement, ast.If):
            ways = [(block, self.block(block)) for block in (statement.body, statement.orelse) if block]
            for block, words in ways:
                self._way(statement, block[0], words)
            return frozenset(names_called(statement.test)).union(*(words for _, words in ways))
        words = self.block(statements_in(statement))
        return words.union(
            word for child in children_of(statement) if isinstance(child, ast.expr) for word in names_called(child)
        )

    def _way(self, test: ast.If, first: ast.stmt, words: frozenset[str]) -> None:
        if words:
            self.ways.append(_Way(test, first, words))
