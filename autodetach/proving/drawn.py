"""Whether what a program reads by way of `.grad_fn` is the same graph after an edit: it may draw that, or walk it."""

from __future__ import annotations

from itertools import islice

from autodetach.machine.events import MAX_LOOKED_AT, GraphRead
from autodetach.machine.graph import ancestors
from autodetach.machine.run import Run
from autodetach.proving.proof import name_of
from autodetach.view.program import place_text

Drawn = dict[str, set[tuple[str, str]]]
ANY = ("any", "")


def is_drawn_otherwise(before: Run, after: Run) -> bool:
    """Whether some of the operations that a place has found in a graph are not found there any more."""
    old = _drawn(before)
    new = _drawn(after) if old else {}
    return any(operations - new.get(place, set()) for place, operations in old.items())


def _drawn(run: Run) -> Drawn:
    """The operations behind `.grad_fn`, by the place that reads it; of what is only asked for, that there are any."""
    found: Drawn = {}
    for fact in run.machine.facts:
        if isinstance(fact, GraphRead):
            operations = found.setdefault(place_text(fact.site.node), set())
            if fact.asked:
                operations.update((ANY,) if fact.node is not None and not fact.node.leaf else ())
            else:
                operations.update(name_of(n) for n in islice(ancestors(fact.nodes), MAX_LOOKED_AT) if not n.leaf)
    return found
