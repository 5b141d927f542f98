"""What an object has under a name came there by an assignment, long before the object is stored: it is set detached."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.candidates.detaching import SHARED
from autodetach.candidates.kept_for_copy import Kept, as_written, detached
from autodetach.machine.graph import ancestors
from autodetach.machine.growth import Growth
from autodetach.machine.held import graph_in
from autodetach.machine.program_values import Class, Instance
from autodetach.machine.values import Mapping, Sequence, Value
from autodetach.suspect import Candidate
from autodetach.view.program import Program, listed

DEPTH = 4


def set_without_graph(program: Program, growth: Growth) -> Iterator[Candidate]:
    """`state.energy = out["energy"]` of states that are taken apart and put together before some are stored."""
    stored = growth.stored
    assert stored is not None
    names = {
        (one.cls, name)
        for one in _instances(stored.value, DEPTH)
        for name, held in one.attrs.items()
        if any(True for _ in graph_in(held))
    }
    behind = set(ancestors([growth.node]))
    settings = [s for s in growth.run.machine.attributes_set if (s.owner.cls, s.name) in names]
    if behind.isdisjoint(t.node for s in settings for t in graph_in(s.value)):
        return
    every: dict[object, Kept] = {}
    leading: dict[object, Kept] = {}
    for setting in settings:
        kept = as_written(program, setting)
        if kept is not None:
            every.setdefault(kept.value, kept)
            if any(t.node in behind for t in graph_in(setting.value)):
                leading.setdefault(kept.value, kept)
    for places in [every] if len(every) == len(leading) else [every, leading]:
        codemods = tuple(codemod for kept in places.values() for codemod in detached(kept))
        if codemods:
            doubt = SHARED if any(program.is_imported(kept.value) for kept in places.values()) else None
            shown = listed(kept.value for kept in places.values())
            yield Candidate(f"keep the value without its graph: `.detach()` on {shown}", codemods, doubt)


def _instances(value: Value, depth: int) -> Iterator[Instance]:
    """The objects of classes in view that a value is, or has in lists and dicts."""
    if isinstance(value, Instance) and isinstance(value.cls, Class):
        yield value
    elif isinstance(value, Sequence) and depth:
        for item in value.items:
            yield from _instances(item, depth - 1)
    elif isinstance(value, Mapping) and depth:
        for _, item in value.items.values():
            yield from _instances(item, depth - 1)
