"""Elements of a container that are unlike those which a loop has run through before it was cut short.

The first few stand for all that the same place has put there, as records of the same kind: `("train", loss)`. What
another loop has put behind these is asked for other things: of each kind that is there, two are looked at, too.

Such a pass shows what a program asks of a kind. A single one shows nothing of what two of a kind have to do with each
other, as two that share a graph, or one that is compared with the one before it: that something does not happen again
is only said where a second one was run through. How many there are, and which is the last, no such pass tells.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import islice

from autodetach.machine.graph import Chain, Site, calls_of
from autodetach.machine.marks import is_mark
from autodetach.machine.program_values import Instance
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import PASSED, Opaque, Sequence, Sym, Tensor, Value
from autodetach.machine.values import Mapping as Dict

MAX_OTHERS = 12
"""So many kinds are looked at behind the first few."""
OF_A_KIND = 2
MAX_LOOKED_AT = 64
MAX_PARTS = 8
MAX_CALLS = 4
Places = Mapping[Value, tuple[Site, Chain]]
"""By what was put into containers: the place that did it first, in which calls."""


def _place_of(value: Value, places: Places) -> Hashable:
    """The place that has put something into a container, in the innermost of its calls."""
    if value not in places:
        return None
    site, chain = places[value]
    return (site.node, *(call.node for call in islice(calls_of(chain), MAX_CALLS)))


def unlike(items: list[Value], passed: int, places: Places) -> Iterator[tuple[Value, list[Value]]]:
    """Of the elements behind the first ones, those that are looked at, each with those that it stands for.

    With the first ones, these are two of each kind, in the order of the container.
    """
    if len(items) <= passed or not any(comes_of_graph(item) for item in items[passed:MAX_LOOKED_AT]):
        return
    found: dict[Hashable, list[Value]] = {}
    for item in items[:passed]:
        found.setdefault(kind_of(item, places), []).append(item)
    most = len(found) + MAX_OTHERS
    looked_at: list[tuple[Value, list[Value]]] = []
    for item in items[passed:MAX_LOOKED_AT]:
        if not comes_of_graph(item):
            continue
        kind = kind_of(item, places)
        if kind not in found and len(found) == most:
            continue
        alike = found.setdefault(kind, [])
        alike.append(item)
        if len(alike) <= OF_A_KIND:
            looked_at.append((item, alike))
    for item, alike in looked_at:
        yield item, alike[OF_A_KIND:]


def comes_of_graph(value: Value, depth: int = 3) -> bool:
    """Whether something has a history, or the value of what has, or such things in it."""
    kind = type(value)
    if kind is Tensor or kind is Opaque:
        return bool(value.lost) or (value.node is not None and not value.node.leaf)
    if kind is Sym:
        return bool(value.tags - {PASSED} or value.lost)
    return depth > 0 and any(comes_of_graph(part, depth - 1) for _, part in _parts(value))


def kind_of(value: Value, places: Places, depth: int = 3) -> Hashable:
    """What tells elements apart which a program may treat otherwise: who put them there, and how they are tagged."""
    kind = type(value)
    if is_constant(value):
        return (kind, None if kind is float else value)
    place = _place_of(value, places) if kind in KEPT else None
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
