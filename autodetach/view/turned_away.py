"""Branches that a loop has taken at first, and not in its last pass, though no test tells that it never will again.

`for x, is_end in zip(data, [1, 0, 0, 0] * 10): if is_end:` is known in all passes that are executed, and in these it is
true in the first one alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from autodetach.machine.activations import Activation, Loops
from autodetach.machine.last_pass import once_in
from autodetach.machine.passes import asks_for_none
from autodetach.machine.run import Run

ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def taken_at_first(run: Run, activation: Activation, loops: Loops) -> frozenset[int]:
    """The numbers of the passes in which such a branch was taken; `loops` are those that are open in one of these."""
    if activation.exact or len(activation.begun) < 2:
        return frozenset()
    passes = [set(run.machine.ways[begun:end]) for begun, end in pairwise(activation.begun)]
    last = set(run.machine.ways[activation.begun[-1] :])
    left = {way for way in last if not way[1] and (way[0], True) not in last and _may_be_true_again(way[0], loops)}
    return frozenset(i for i, ways in enumerate(passes) if any((node, True) in ways for node, _ in left))


def _may_be_true_again(branch: ast.AST, loops: Loops) -> bool:
    if not isinstance(branch, ast.If) or asks_for_none(branch):
        return False
    return not any(_is_over(test, loops) for test in _tests_in(branch.test))


def _tests_in(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from _tests_in(value)
    else:
        yield test


def _is_over(test: ast.expr, loops: Loops) -> bool:
    """Whether a test is true in one pass, or of a count that only goes on: what is past stays so."""
    is_ordered = isinstance(test, ast.Compare) and any(isinstance(sign, ORDERED) for sign in test.ops)
    return (is_ordered and all(map(_goes_on, ast.walk(test)))) or once_in(test, loops) is not None


def _goes_on(part: ast.AST) -> bool:
    """Whether it may stand in what grows with a count: a remainder, and an entry of a table, go up and down."""
    return not isinstance(part, (ast.Mod, ast.Call, ast.Subscript, ast.BitAnd, ast.BitXor))
