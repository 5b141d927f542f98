"""What stands around a place: whether a graph is walked again, or a value read, is decided by the tests there."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.kept import kept
from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation
from autodetach.machine.oracle import Decision, Oracle, TestKey
from autodetach.machine.program_values import Frame, Function
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import FUNCTIONS, LOOPS


class Surroundings(NamedTuple):
    """Functions and loops, wherever they stand: lines of all files are told apart, see `projects.project`."""

    nodes: frozenset[ast.AST]

    def hold(self, decision: Decision) -> bool:
        """Whether a test stands in one of them."""
        return any(_holds(node, decision.line) for node in self.nodes)


def around(differentiations: Iterable[Differentiation]) -> Surroundings:
    """The functions that differentiate, and the loops around, wherever these stand; not the rest of a module."""
    nodes: set[ast.AST] = set()
    for d in differentiations:
        frame = d.trail[-1][1] if d.trail else None
        if isinstance(frame, Frame) and isinstance(frame.function, Function):
            nodes.add(frame.function.node)
        nodes.update(p.activation.node for p in d.loops if p.activation.node is not None)
    return Surroundings(frozenset(nodes))


def around_line(trees: Iterable[ast.Module], line: int) -> Surroundings:
    """The innermost function around a line, or the outermost loop where it stands in no function."""
    found = [node for tree in trees for node in _functions_and_loops(tree) if _holds(node, line)]
    functions = [node for node in found if isinstance(node, FUNCTIONS)]
    return Surroundings(frozenset(functions[-1:] or found[:1]))


def go_one_way(oracles: Iterable[Oracle], near: Surroundings) -> bool:
    """Whether a test there went one way on all paths that were run: those that the budget left out are not known."""
    ways: dict[TestKey, set[bool]] = {}
    for oracle in oracles:
        for decision in oracle.decisions.values():
            if decision.relevant and near.hold(decision):
                ways.setdefault(decision.key, set()).update(decision.outcomes)
    return any(len(outcomes) == 1 for outcomes in ways.values())


@kept
def _functions_and_loops(tree: ast.AST) -> list[ast.AST]:
    return [node for node in walk(tree) if isinstance(node, (*FUNCTIONS, *LOOPS))]


def _holds(node: ast.AST, line: int) -> bool:
    first: int = getattr(node, "lineno", 0)
    last: int = getattr(node, "end_lineno", None) or first
    return first <= line <= last
