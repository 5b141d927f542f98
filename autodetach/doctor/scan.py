"""One look over the graph that a differentiation is about to walk."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from autodetach.doctor.nodes import NO_SEQUENCE, Node, Saved, saved


@dataclass(eq=False, slots=True)
class Scan:
    """What the differentiation will meet: the sequence numbers of its nodes, and what was walked before."""

    sequences: set[int] = field(default_factory=set)
    freed: list[Node] = field(default_factory=list)
    """The nodes that will raise: the first ones on each way down."""
    again: set[int] = field(default_factory=set)
    """Sequence numbers of the nodes that were walked before and still have what they saved."""


def scan(roots: Iterable[Node], walked: Callable[[int], bool], frees: Callable[[int], bool] | None = None) -> Scan:
    """Walk from the roots; below a freed node nothing is looked at.

    `walked` tells of a sequence number whether an earlier differentiation has, or may have, walked that node. A node
    that does not tell whether it is freed is taken for it where `frees` says so of its number.
    """
    result = Scan()
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        sequence = node._sequence_nr()
        if sequence != NO_SEQUENCE:
            if walked(sequence):
                state = saved(node)
                if state is Saved.FREED or (state is Saved.UNKNOWN and frees is not None and frees(sequence)):
                    result.freed.append(node)
                    continue
                if state in (Saved.LIVE, Saved.UNKNOWN):
                    result.again.add(sequence)
            result.sequences.add(sequence)
        for below, _ in node.next_functions:
            if below is not None and below not in seen:
                stack.append(below)
    return result


def way_to(roots: Iterable[Node], target: Node) -> list[Node]:
    """The nodes on a shortest way from a root down to the target, both included; empty if there is none."""
    above: dict[Node, Node | None] = dict.fromkeys(roots)
    queue = deque(above)
    while queue:
        node = queue.popleft()
        if node is target:
            way = [node]
            while (upper := above[way[-1]]) is not None:
                way.append(upper)
            return way[::-1]
        for below, _ in node.next_functions:
            if below is not None and below not in above:
                above[below] = node
                queue.append(below)
    return []


def breadth_first(roots: Iterable[Node]) -> Iterator[Node]:
    """The nodes below the roots, the nearest first."""
    queue = deque(roots)
    seen: set[Node] = set(queue)
    while queue:
        node = queue.popleft()
        yield node
        for below, _ in node.next_functions:
            if below is not None and below not in seen:
                seen.add(below)
                queue.append(below)


def needed(roots: Iterable[Node], inputs: Iterable[Node]) -> set[Node]:
    """The nodes on a way from the roots to the inputs: those that `autograd.grad` executes."""
    above: dict[Node, list[Node]] = {}
    stack = list(roots)
    seen = set(stack)
    while stack:
        node = stack.pop()
        for below, _ in node.next_functions:
            if below is None:
                continue
            above.setdefault(below, []).append(node)
            if below not in seen:
                seen.add(below)
                stack.append(below)
    found: set[Node] = set()
    stack = [node for node in inputs if node in seen]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack += above.get(node, ())
    return found
