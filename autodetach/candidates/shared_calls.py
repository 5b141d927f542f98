"""The differentiations that walk one graph, and what speaks against keeping the gradient of each of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from autodetach.machine.activations import Pass
from autodetach.machine.events import SecondWalk
from autodetach.machine.graph import Differentiation, ancestors
from autodetach.machine.run import Run
from autodetach.view.steps_between import stepped_between


def shared_calls(event: SecondWalk) -> list[Differentiation]:
    """The differentiations that walk the node of an event in the pass (or loop) of its first one, in order."""
    inside = _inside(event, event.node.walked_by)
    calls = [d for d in inside if d.number >= event.first.number]
    goes_on = event.first.within is event.second  # behind the hook in which the first one stands
    return [*calls, event.second] if goes_on else calls


def freeing_others(event: SecondWalk) -> list[Differentiation]:
    """Those of the same pass that free something else of what the second one needs."""
    freeing = dict.fromkeys(n.freed_by for n in event.second.walked if n.saves and n.freed_by is not None)
    calls = shared_calls(event)
    return [d for d in _inside(event, freeing) if d.number < event.second.number and d not in calls]


def _inside(event: SecondWalk, differentiations: Iterable[Differentiation]) -> list[Differentiation]:
    loops = _common_loops(event)
    return [d for d in differentiations if d.loops[: len(loops)] == loops]


def _common_loops(event: SecondWalk) -> tuple[Pass, ...]:
    """The passes in which both stand, a loop over losses taken as a whole."""
    first, second = event.first.loops, event.second.loops
    common = 0
    while common < min(len(first), len(second)) and first[common] is second[common]:
        common += 1
    return first[:common]


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
