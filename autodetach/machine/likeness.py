"""Whether two graphs, of a program and of an edited one, are the same graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from autodetach.machine.graph import Node


class Likeness:
    """A growing one-to-one relation between the nodes of two heaps: parents in order, names and sharing are the same.

    So is how many results of a parent a node is given. `name` says which nodes may be taken for each other. What was
    once related stays so, hence two unions of graphs that were found alike one by one are alike as well.
    """

    def __init__(self, one_name: Callable[[Node], Hashable], other_name: Callable[[Node], Hashable]) -> None:
        self._one_name = one_name
        self._other_name = other_name
        self._there: dict[Node, Node] = {}
        self._back: dict[Node, Node] = {}

    def alike(self, one: tuple[Node, ...], other: tuple[Node, ...]) -> bool:
        """Whether everything behind `one` has its like behind `other`; if not, nothing is related by this call."""
        added: list[Node] = []
        if len(one) == len(other) and self._relate(list(zip(one, other, strict=True)), added):
            return True
        for node in added:
            del self._back[self._there.pop(node)]
        return False

    def _relate(self, stack: list[tuple[Node, Node]], added: list[Node]) -> bool:
        there, back = self._there, self._back
        while stack:
            one, other = stack.pop()
            known = there.get(one)
            if known is not None:
                if known is not other:
                    return False
                continue
            if other in back or self._one_name(one) != self._other_name(other):
                return False
            above, other_above = one.links, other.links
            if len(above) != len(other_above):
                return False
            there[one] = other
            back[other] = one
            added.append(one)
            stack.extend(zip(above, other_above, strict=True))
        return True
