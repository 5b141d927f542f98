"""What stands around differentiations: whether a graph is walked again is decided by the tests there."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from autodetach.machine.graph import Differentiation
from autodetach.machine.oracle import Decision
from autodetach.machine.values import Frame


class Surroundings(NamedTuple):
    """The functions that differentiate, by their qualified names, and the loops around, wherever these stand."""

    scopes: frozenset[str]
    loops: frozenset[ast.stmt]

    def hold(self, decision: Decision) -> bool:
        """Whether a test stands in one of them."""
        return decision.key[0] in self.scopes or any(
            loop.lineno <= decision.line <= (loop.end_lineno or loop.lineno) for loop in self.loops
        )


def around(differentiations: Iterable[Differentiation]) -> Surroundings:
    """What stands around some differentiations; of a module's own statements, only its loops do."""
    scopes: set[str] = set()
    loops: set[ast.stmt] = set()
    for d in differentiations:
        frame = d.trail[-1][1] if d.trail else None
        if isinstance(frame, Frame) and frame.outer is not None:
            scopes.add(d.scope)
        loops.update(node for p in d.loops if isinstance(node := p.activation.node, ast.stmt))
    return Surroundings(frozenset(scopes), frozenset(loops))
