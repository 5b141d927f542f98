"""The differentiations that walk one graph, and what speaks against keeping the gradient of each of them."""

from __future__ import annotations

import itertools

from autodetach.machine.events import SecondWalk
from autodetach.machine.graph import Differentiation, ancestors
from autodetach.machine.run import Run
from autodetach.view.program import stepped_between


def shared_calls(event: SecondWalk) -> list[Differentiation]:
    """The differentiations that walk the node of an event in the pass (or loop) of its first one, in order."""
    return [d for d in event.node.walked_by if d.number >= event.first.number and d.number <= _last(event).number]


def _last(event: SecondWalk) -> Differentiation:
    """The last one of the same pass as the second, a loop over losses taken as a whole."""
    depth = min(len(event.first.loops), len(event.second.loops))
    common = 0
    while common < depth and event.first.loops[common] is event.second.loops[common]:
        common += 1
    prefix = event.first.loops[:common]
    return [d for d in event.node.walked_by if d.loops[:common] == prefix][-1]


def doubt_of(run: Run, calls: list[Differentiation]) -> str | None:
    """Why a repair that keeps all gradient may not be what the author meant, or None."""
    trained = {
        frozenset(leaf for leaf, _ in s.consumed)
        for s in run.machine.steps
        if s.what == "step" and any(d in calls for _, ds in s.consumed for d in ds)
    }
    if any(stepped_between(run, a, b) for a, b in itertools.pairwise(calls)):
        return "a step stands in between: the second loss may be meant to be computed again behind it"
    if any(not a & b for a, b in itertools.combinations(trained, 2)):
        return "several optimizers share the gradient: one of the losses may be meant to be detached"
    for d in calls:
        if d.kind == "grad" or _weighted(d):
            continue
        others = [r for o in calls if o is not d and o.kind != "grad" and not _weighted(o) for r in o.roots]
        if any(root in set(ancestors(others)) for root in d.roots):
            return "one loss contains the other, so that its gradient counts twice"
    return None


def repeated_behind_step(run: Run, calls: list[Differentiation]) -> bool:
    """Whether one loss is differentiated again after parameters have changed: without a new forward, to no purpose.

    Sharpness-aware minimization and extragradient steps do so: they mean the loss at the new parameters.
    """
    return any(a.roots == b.roots and stepped_between(run, a, b) for a, b in itertools.pairwise(calls))


def _weighted(d: Differentiation) -> bool:
    """Whether a call says itself with which gradient it begins."""
    return any(k.arg in ("gradient", "grad_tensors") for k in d.call.keywords) or (
        d.kind == "backward" and bool(d.call.args)
    )
