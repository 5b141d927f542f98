"""What several calls add to one tensor in place, one on top of the other: each of them adds to what it was given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autodetach.candidates.out_of_place import out_of_place
from autodetach.machine.events import StaleSaved
from autodetach.machine.graph import ancestors
from autodetach.machine.run import Run
from autodetach.suspect import Candidate
from autodetach.view.program import Program


def added_by_each(program: Program, run: Run, event: StaleSaved) -> Iterator[Candidate]:
    """`x = x + self.places` in a network of which several read the same `x`.

    In place, the second one reads the places of the first one, too, and trains them. What is added are parameters or
    parts of them, and what one call has computed of its sum flows into no other: else a running sum may be meant.
    """
    if _is_given_to_several(run, event):
        for candidate in out_of_place(program, event):
            yield replace(candidate, cuts=True, last_resort=True)


def _is_given_to_several(run: Run, event: StaleSaved) -> bool:
    changed = event.changed
    added = [n for n in run.machine.nodes if n.site is changed]
    earlier = {n for n in ancestors(added) if n.site.node is changed.node and n.site is not changed}
    if not earlier or event.node in ancestors(added) or earlier.isdisjoint(ancestors([event.node])):
        return False
    terms = [p for n in added for p in n.parents if earlier.isdisjoint(ancestors([p]))]
    return len(terms) == sum(len(n.parents) for n in added) - len(added) and not any(n.saves for n in ancestors(terms))
