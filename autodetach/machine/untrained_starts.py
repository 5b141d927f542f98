"""What updates begin with, or depend on, where they are cut off: no loss behind them trains it any more."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine.events import UnreachedGrad
from autodetach.machine.graph import Differentiation, Node, ancestors
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Tensor


def untrains_starts(updates: frozenset[str], before: Run, after: Run) -> bool:
    """Whether a leaf has no gradient, where it is stepped or its gradient is read, that the cut history would give it.

    That is looked at where an error ended the first program. `updates`: the text of them, and of their parts.
    """
    if not before.stopped_by:
        return False
    starts = {leaf: (0, begun) for leaf, begun in _starts(after, updates).items()} or _used_in_place(after, updates)
    if not starts:
        return False
    lost: dict[Node, list[Differentiation]] = {}
    for d in after.machine.differentiations:
        for node in d.walked:
            since, leaves = starts.get(node, (0, set()))
            for leaf in leaves if d.number > since else ():
                lost.setdefault(leaf, []).append(d)
    cleared: dict[Node, list[int]] = {}
    for leaf, clock in after.machine.cleared:
        if leaf in lost:
            cleared.setdefault(leaf, []).append(clock)
    return any(
        d.number < clock and not any(d.number <= at < clock for at in cleared.get(leaf, ()))
        for leaf, clock in _without_gradient(after)
        for d in lost.get(leaf, ())
    )


def _starts(run: Run, updates: frozenset[str]) -> dict[Node, set[Node]]:
    """By each leaf that was made anew of the value of an update: the leaves with which the updates began."""
    found: dict[Node, set[Node]] = {}
    for leaf, lost in run.machine.begun.items():
        nodes = [node for one in lost for node in ancestors([one.node])]
        if any(not node.leaf and spelled(node.site.node) in updates for node in nodes):
            behind = [node for node in nodes if node.leaf]
            found[leaf] = set().union(*(found.get(node, {node}) for node in behind))
    return found


def _used_in_place(run: Run, updates: frozenset[str]) -> dict[Node, tuple[int, set[Node]]]:
    """By each leaf that is updated in place: when it was first, and the other leaves that its gradient met there."""
    found: dict[Node, set[Node]] = {}
    for site in run.machine.of_gradient:
        if spelled(site.node) not in updates:
            continue
        operands = [value for _, value in site.operands if isinstance(value, Tensor)]
        owners = {o.grad_of.node for o in operands if o.grad_of is not None and o.grad_of.node is not None}
        behind = {n for n in ancestors([o.node for o in operands if o.node is not None]) if n.leaf}
        for owner in owners:
            found.setdefault(owner, set()).update(behind - owners)
    first: dict[Node, int] = {}
    for step in run.machine.steps:
        for leaf, _ in step.consumed if step.what == "update" else ():
            first.setdefault(leaf, step.clock)
    return {leaf: (first[leaf], others) for leaf, others in found.items() if leaf in first and others}


def _without_gradient(run: Run) -> Iterator[tuple[Node, int]]:
    """The leaves that are stepped without gradient, or of which it is read when it is None, and when."""
    for step in run.machine.steps:
        if step.what == "step" and not (step.guessed or step.by_hand):
            yield from ((leaf, step.clock) for leaf in step.idle)
    for fact in run.machine.facts:
        if isinstance(fact, UnreachedGrad):
            yield fact.leaf, fact.clock
