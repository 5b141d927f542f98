"""The ways by which gradient comes from what is differentiated down to a leaf, and what it goes through."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from autodetach.kept import kept
from autodetach.machine.activations import diverge
from autodetach.machine.graph import Differentiation, Node, ancestors, leading_to
from autodetach.view.program import place_text

Reached = Counter[tuple[str, str]]
"""So many operations of each name."""
TRANSPARENT = frozenset({"add", "sum", "stack", "part", "leaf", "clone"})
"""Operations that only add up: a repair may bring them in or take them away."""


class Ways:
    """The graphs of differentiations: a network has hundreds of leaves, and each is asked for in the same ones."""

    def __init__(self) -> None:
        self._orders: dict[Differentiation, list[Node]] = {}

    def between(self, d: Differentiation, leaf: Node, within_nodes: set[Node] | None = None) -> set[Node]:
        """The nodes on the paths from the roots down to a leaf; with `within_nodes`, on paths through these only."""
        if d not in self._orders:
            self._orders[d] = sorted(ancestors(d.roots), key=lambda n: n.number)
        order = self._orders[d]
        if within_nodes is not None:
            order = [n for n in order if n is leaf or n in within_nodes]
        return leading_to(leaf, order)

    def paths(self, differentiations: Iterable[Differentiation], leaf: Node) -> int:
        """The number of ways to a leaf: adding up losses keeps it, counting one twice does not."""
        total = 0
        for d in differentiations:
            ways = _ways_to(leaf, self.between(d, leaf))
            total += sum(ways.get(root, 0) for root in d.roots)
        return total

    def unfolded(self, differentiations: Iterable[Differentiation], leaf: Node) -> Reached:
        """How many ways from the roots down to a leaf go through each operation.

        The gradient is the sum over these ways (the chain rule), so that it stays the same where a value that several
        others share is computed anew for each of them.
        """
        found: Reached = Counter()
        for d in differentiations:
            ordered = sorted(self.between(d, leaf), key=lambda n: n.number)
            below: Counter[Node] = Counter({leaf: 1})
            above: Counter[Node] = Counter(d.roots)
            for node in ordered:
                if node is not leaf:
                    below[node] = sum(below[p] for p in node.parents)
            for node in reversed(ordered):
                for parent in node.parents:
                    above[parent] += above[node]
                if node.op not in TRANSPARENT:
                    found[name_of(node)] += above[node] * below[node]
        return found

    def surely(self, differentiations: Iterable[Differentiation], leaf: Node) -> Reached:
        """What lies between roots and a leaf; of a loop that was cut short on the way, once for all passes.

        How many terms of a long list are seen depends on what stands before them.
        """
        nodes = {n: {p.activation for p in d.loops} for d in differentiations for n in self.between(d, leaf)}
        often = {
            n for n, own in nodes.items() if any(not p.activation.exact for p in n.loops if p.activation not in own)
        }
        return count(nodes.keys() - often) | Counter(set(count(often)))


def ways_of_pass(due: Iterable[tuple[Differentiation, set[Node]]], leaf: Node) -> int:
    """The number of ways that never leave the pass which differentiates; of what is walked twice, the most of one walk.

    Of steps unrolled in a pass, each may have its own way to the leaf, and all the ways through those before it.
    """
    most = 0
    for d, nodes in due:
        ways = _ways_to(leaf, [n for n in nodes if diverge(n.loops, d.loops) is None])
        most = max(most, sum(ways.get(root, 0) for root in d.roots))
    return most


def _ways_to(leaf: Node, nodes: Iterable[Node]) -> dict[Node, int]:
    """The number of ways from each of some nodes down to a leaf."""
    ways = {leaf: 1}
    for node in sorted(nodes, key=lambda n: n.number):
        if node is not leaf:
            ways[node] = sum(ways.get(p, 0) for p in node.links)
    return ways


def count(nodes: Iterable[Node]) -> Reached:
    return Counter(name_of(n) for n in nodes if n.op not in TRANSPARENT)


def name_of(node: Node) -> tuple[str, str]:
    """What a node does, which is the same in place or not, as a function or as a layer."""
    return _plain(node.op), _called(node.site.node)


@lru_cache(1024)
def _plain(op: str) -> str:
    return op.lower().replace("_", "")


@kept
def _called(place: ast.AST) -> str:
    """What a call calls, in place or not."""
    return call_of(place_text(place.func)) if isinstance(place, ast.Call) else ""


def call_of(text: str) -> str:
    """What is called, by its text, in place or not."""
    text = text.replace(".clone()", "")
    return f"{text}(".replace("_(", "(") if text else ""
