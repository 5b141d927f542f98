"""Numbers that each pass of a loop computes anew, and that come out otherwise.

Of a loop that is cut off after a few passes, such a number is not known: it goes on as the loop does. `left -= 1`,
`t += dt`, `n = (n + 1) % k`, `state.replace(t=state.t + 1)`. Two are left as they are: what is computed of that which a
`while` asks for, as it tells when the loop ends, and a place in a ring, for which no test asks.
"""

from __future__ import annotations

import ast
from typing import TypeAlias

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.graph import Activation, Loops
from autodetach.machine.rings import places_in_rings
from autodetach.machine.spelling import spelled

Number: TypeAlias = int | float


class Varying:
    """The results of expressions in the passes of loops that are cut off."""

    def __init__(self) -> None:
        self._results: dict[tuple[Activation, ast.AST], _Results] = {}

    def before(self, node: ast.AST, tree: ast.Module | None, loops: Loops, result: Number) -> Number | None:
        """What an expression of a file came to in the pass before, if that was something else than it is now."""
        current = next((p for p in reversed(loops) if not p.activation.exact), None)
        if current is None:
            return None
        known = self._results.get((current.activation, node))
        if known is None:
            known = self._results[current.activation, node] = _Results(current.index)
        before = known.noted(current.index, result)
        return None if before in (None, result) or _is_left(node, tree, loops) else before


class _Results:
    """What an expression has come to in a pass, each time that it was computed, and in the pass before."""

    __slots__ = ("_before", "_index", "_now")

    def __init__(self, index: int) -> None:
        self._index = index
        self._before: list[Number] = []
        self._now: list[Number] = []

    def noted(self, index: int, result: Number) -> Number | None:
        """Note what it has come to in a pass; what it came to in the pass before, the same number of times later."""
        if index != self._index:
            self._before = self._now if index == self._index + 1 else []
            self._index, self._now = index, []
        self._now.append(result)
        return self._before[len(self._now) - 1] if len(self._now) <= len(self._before) else None


def _is_left(node: ast.AST, tree: ast.Module | None, loops: Loops) -> bool:
    """Whether an expression has something in it for which the test of a loop asks, or a place in a ring."""
    names = _names_in(node)
    tests = (p.activation.node.test for p in loops if isinstance(p.activation.node, ast.While))
    asked = any(not names.isdisjoint(_names_in(test)) for test in tests)
    return asked or (tree is not None and not names.isdisjoint(places_in_rings(tree)))


@kept
def _names_in(node: ast.AST) -> frozenset[str]:
    return frozenset(spelled(n) for n in nodes_in(node) if isinstance(n, (ast.Name, ast.Attribute)))
