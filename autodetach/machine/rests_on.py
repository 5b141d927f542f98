"""What is assumed where a part of a graph is said to have history, and its differentiation is no proof of that."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from autodetach.machine.graph import Node


def rests_on(node: Node, roots: Iterable[Node]) -> tuple[Node, ...]:
    """The calls out of view through which alone `node` has history, if the roots have some by another way, too.

    A method may detach what it is given: `advantages = batch.advantages(values)`. What calls a network has its weights.
    """
    found: dict[Node, None] = {}
    seen: set[Node] = set()
    stack = [node]
    while stack:
        at = stack.pop()
        if at in seen:
            continue
        seen.add(at)
        if at.assumed and at.called and at.parents and not any(parent.leaf for parent in at.parents):
            found[at] = None
        elif not at.parents:
            return ()
        else:
            stack += at.parents
    return tuple(found) if found and _has_another_way(roots, found) else ()


def _has_another_way(roots: Iterable[Node], without: Collection[Node]) -> bool:
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        at = stack.pop()
        if at in seen or at in without:
            continue
        seen.add(at)
        if not at.parents:
            return True
        stack += at.parents
    return False
