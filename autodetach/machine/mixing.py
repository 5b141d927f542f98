"""Paths on which a test goes one way in a pass and the other way in the next: few of them are run.

With `if step % 4 == 0: features = backbone(x)`, a loss walks the graph of an earlier pass on such a path only: where
the test goes the same way in every pass, it is either made anew or never.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from autodetach.kept import kept
from autodetach.machine.graph import Differentiation, trail_of
from autodetach.machine.oracle import Decision, Oracle
from autodetach.machine.surroundings import Surroundings
from autodetach.machine.walking import backward_calls

Branch = Sequence[ast.AST]


def may_be_mixed(oracles: Iterable[Oracle], near: Surroundings, same: Sequence[Differentiation]) -> bool:
    """Whether a path that was not run, and mixes the ways of a test there, may walk a graph again.

    `same` are the differentiations of one call. Either a branch differentiates too, or it makes what they walk, and
    they stand outside of it.
    """
    met: dict[int, list[Decision]] = {}
    mixed: set[object] = set()
    often: set[object] = set()
    for oracle in oracles:
        for key, decision in oracle.decisions.items():
            if decision.relevant and near.hold(decision):
                met.setdefault(decision.line, []).append(decision)
                mixed.update([key] if len(decision.outcomes) > 1 else [])
                often.update([key] if oracle.visits.get(key, 0) > 1 else [])
    lines = [line for line, found in met.items() if any(d.key in often and d.key not in mixed for d in found)]
    branches = [branch for node in near.nodes for line in lines for branch in _branches_at(node, line)]
    return any(_differentiates(branch, same[0].call) or _makes(branch, same) for branch in branches)


def _differentiates(branch: Branch, but: ast.Call) -> bool:
    """Whether a call in a branch is spelled like a differentiation, other than this one."""
    return any(call is not but for part in branch for call in backward_calls(part))


def _makes(branch: Branch, same: Iterable[Differentiation]) -> bool:
    """Whether what is walked was made in a branch, and is walked outside of it."""
    inside = {node for part in branch for node in ast.walk(part)}
    outside = [d for d in same if d.call not in inside and inside.isdisjoint(s for s, _ in d.trail)]
    made = (node for d in outside for node in d.walked)
    return any(node.site.node in inside or not inside.isdisjoint(s for s, _ in trail_of(node)) for node in made)


def _branches_at(node: ast.AST, line: int) -> Iterator[Branch]:
    """What is done only one way of a test that stands on a line."""
    for first, last, branch in _branches(node):
        if first <= line <= last:
            yield branch


@kept
def _branches(node: ast.AST) -> list[tuple[int, int, Branch]]:
    """The branches in a function or a loop, with the first and the last line of their tests."""
    found: list[tuple[int, int, Branch]] = []
    for inner in ast.walk(node):
        if isinstance(inner, ast.If):
            branches: list[Branch] = [inner.body, inner.orelse]
        elif isinstance(inner, ast.While):
            branches = [inner.body]
        elif isinstance(inner, ast.IfExp):
            branches = [[inner.body], [inner.orelse]]
        else:
            continue
        lines = inner.test.lineno, inner.test.end_lineno or inner.test.lineno
        found += [(*lines, branch) for branch in branches if branch]
    return found
