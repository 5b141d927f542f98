"""Cycles of a chain: how a pass of a loop makes what the next one goes on from."""

from __future__ import annotations

import ast
from functools import cached_property

from autodetach.machine.activations import Pass
from autodetach.machine.graph import Node
from autodetach.machine.run import Run
from autodetach.once import once


class Places:
    """What the places of a run have made in each pass, and the cycles there: many links are asked of the same ones."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._cycles: dict[tuple[Node, Pass, ast.AST], list[Node]] = {}
        self._none_behind: dict[tuple[ast.AST, Pass, ast.AST], int] = {}

    def cycle(self, parent: Node, within_pass: Pass, place: ast.AST) -> list[Node]:
        key = parent, within_pass, place
        if key not in self._cycles:
            self._cycles[key] = cycle_of(parent, within_pass, place)
        return self._cycles[key]

    def remade(self, place: ast.AST, within_pass: Pass, child: Node) -> list[Node]:
        """The cycle by which a pass makes something new in a place, behind a node that has read what was made before.

        None has one where none had one behind an older node.
        """
        key = place, within_pass, child.site.node
        if child.number >= self._none_behind.get(key, child.number + 1):
            return []
        for node in self._made.get((place, within_pass), ()):
            if node.number > child.number and (cycle := self.cycle(node, within_pass, child.site.node)):
                return cycle
        self._none_behind[key] = child.number
        return []

    @cached_property
    def _made(self) -> dict[tuple[ast.AST, Pass], list[Node]]:
        found: dict[tuple[ast.AST, Pass], list[Node]] = {}
        for node in self._run.machine.nodes:
            for p in node.loops:
                found.setdefault((node.site.node, p), []).append(node)
        return found


@once
def places_of(run: Run) -> Places:
    return Places(run)


def cycle_of(parent: Node, within_pass: Pass, place: ast.AST) -> list[Node]:
    """Nodes made in one pass that lead from what the next pass reads back to what was read from the pass before."""
    order: list[Node] = []
    seen: set[Node] = set()
    stack = [parent]
    while stack and len(order) < 400:
        node = stack.pop()
        if node in seen or within_pass not in node.loops:
            continue
        seen.add(node)
        order.append(node)
        stack.extend(node.parents)
    ends = {n for n in order if n.site.node is place}
    if not ends:
        return []
    on_path: set[Node] = set()
    for node in sorted(order, key=lambda n: n.number):
        if node in ends or not on_path.isdisjoint(node.parents):
            on_path.add(node)
    return [n for n in order if n in on_path]
