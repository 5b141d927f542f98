"""Elements of a container that are unlike those which a loop has run through before it was cut short.

The first few stand for all that the same place has put there, as records of the same kind: `("train", loss)`. What
another loop has put behind these is asked for other things: one of each kind is looked at, too.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from autodetach.machine.graph import Chain, Site
from autodetach.machine.marks import is_mark
from autodetach.machine.program_values import Instance
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import Mapping as Dict
from autodetach.machine.values import Opaque, Sequence, Sym, Tensor, Value

MAX_OTHERS = 12
"""So many are looked at behind the first few."""
MAX_LOOKED_AT = 64
MAX_PARTS = 8
MAX_CALLS = 4
Places = Mapping[Value, Hashable]
"""By what was put into containers: the place that did it first, in which calls."""


class Unlike(NamedTuple):
    """An element, and the others that it stands for."""

    item: Value
    alike: list[Value]


def place_of(site: Site, chain: Chain) -> Hashable:
    """A place of the program, in the calls that are open there."""
    found = [site.node]
    while chain is not None and len(found) <= MAX_CALLS:
        call, _, chain = chain
        found.append(call.node)
    return tuple(found)


def unlike(items: list[Value], passed: int, places: Places) -> Iterable[Unlike]:
    """Of the elements behind the first ones, one of each kind that these are not of."""
    if len(items) <= passed or not any(comes_of_graph(item) for item in items[passed:MAX_LOOKED_AT]):
        return ()
    seen = {kind_of(item, places) for item in items[:passed]}
    found: dict[Hashable, Unlike] = {}
    for item in items[passed:MAX_LOOKED_AT]:
        if not comes_of_graph(item):
            continue
        kind = kind_of(item, places)
        if kind in found:
            found[kind].alike.append(item)
        elif kind not in seen and len(found) < MAX_OTHERS:
            found[kind] = Unlike(item, [])
    return found.values()


def comes_of_graph(value: Value, depth: int = 3) -> bool:
    """Whether something has a history, or the value of what has, or such things in it."""
    kind = type(value)
    if kind is Tensor or kind is Opaque:
        return bool(value.lost) or (value.node is not None and not value.node.leaf)
    if kind is Sym:
        return bool(value.tags or value.lost)
    return depth > 0 and any(comes_of_graph(part, depth - 1) for _, part in _parts(value))


def kind_of(value: Value, places: Places, depth: int = 3) -> Hashable:
    """What tells elements apart which a program may treat otherwise: who put them there, and how they are tagged."""
    kind = type(value)
    if is_constant(value):
        return (kind, None if kind is float else value)
    place = places.get(value) if kind in KEPT else None
    if depth == 0 or not comes_of_graph(value) or kind not in HOLDING:
        return (kind, place)
    named = value.cls if kind is Instance else value.kind if kind is Sequence else None
    parts = [(name, kind_of(part, places, depth - 1)) for name, part in _parts(value)]
    return (kind, named, place, frozenset(parts))


HOLDING = frozenset({Sequence, Dict, Instance})
KEPT = HOLDING | {Tensor, Opaque, Sym}
"""What is known by its place."""


def _parts(value: Value) -> list[tuple[Hashable, Value]]:
    """What a record holds, and lists and dicts: of lists, the places are all the same."""
    if isinstance(value, Sequence):
        several = enumerate(value.items) if value.kind == "tuple" else ((None, item) for item in value.items)
        return [part for part, _ in zip(several, range(MAX_PARTS), strict=False)]
    if isinstance(value, Dict):
        return [(key, part) for (key, (_, part)), _ in zip(value.items.items(), range(MAX_PARTS), strict=False)]
    if isinstance(value, Instance):
        named = ((name, part) for name, part in value.attrs.items() if not is_mark(name))
        return [part for part, _ in zip(named, range(MAX_PARTS), strict=False)]
    return []
