"""What updates begin with, where new leaves are made of them: no loss behind them trains it any more."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine.events import UnreachedGrad
from autodetach.machine.graph import Differentiation, Node, ancestors
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled


def untrains_starts(updates: frozenset[str], before: Run, after: Run) -> bool:
    """Whether a leaf has no gradient, where it is stepped or its gradient is read, that the cut history would give it.

    That is looked at where an error ended the first program. `updates`: the text of them, and of their parts.
    """
    if not before.stopped_by:
        return False
    starts = _starts(after, updates)
    if not starts:
        return False
    lost: dict[Node, list[Differentiation]] = {}
    for d in after.machine.differentiations:
        for leaf in {start for node in d.walked if node in starts for start in starts[node]}:
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


def _without_gradient(run: Run) -> Iterator[tuple[Node, int]]:
    """The leaves that are stepped without gradient, or of which it is read when it is None, and when."""
    for step in run.machine.steps:
        if step.what == "step" and not (step.guessed or step.by_hand):
            yield from ((leaf, step.clock) for leaf in step.idle)
    for fact in run.machine.facts:
        if isinstance(fact, UnreachedGrad):
            yield fact.leaf, fact.clock
