"""What a differentiation has not freed yet when it calls a hook: a hook runs before what made its tensor is walked.

The engine goes from the youngest node to the oldest, and frees each behind its own walk. So a hook may walk the graph
of its own tensor, as implicit layers do, if it keeps that: the differentiation which called the hook comes to it later.
"""

from __future__ import annotations

from autodetach.machine.graph import Differentiation, Node


class Paused:
    """A differentiation that waits for a hook which it has called `at` a node; or None, if nobody knows at which."""

    __slots__ = ("_at", "_bound", "_d")

    def __init__(self, d: Differentiation, at: Node | None) -> None:
        self._d = d
        self._at = at
        self._bound: int | None = None

    def is_ahead(self, node: Node) -> bool:
        """Whether it comes to a node only behind the hook."""
        if self._bound is None:
            self._bound = self._last()
        return self._d in node.walked_by and node.number <= self._bound

    def spares(self, node: Node) -> bool:
        """Whether a node is taken for freed by it, and is not yet."""
        return node.freed_by is self._d and self.is_ahead(node)

    def _last(self) -> int:
        """The youngest node that is still ahead. Gradient is added to a leaf as soon as all that use it are done."""
        at, walked = self._at, self._d.walked
        if at is None or self._d not in (at.grads if at.leaf else at.walked_by):
            return walked[0].number if walked else 0
        return min((n.number for n in walked if at in n.parents), default=at.number) - 1 if at.leaf else at.number

    def calls_again(self, inner: Differentiation) -> bool:
        """Whether a differentiation in the hook comes to the node of the hook, too."""
        return any(self._at is n or self._at in n.parents for n in inner.walked)
