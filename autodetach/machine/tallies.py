"""`collections.Counter`: a dict that adds what it is given to what it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeGuard

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import hash_all
from autodetach.machine.program_values import Iterable, Native
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import Mapping, Sequence, Value

NOTHING = Native("Counter", lambda args, kwargs, site: 0)
"""What makes the value of a key that a counter does not hold; no other dict has it."""
ADDING = {"update": "Add", "subtract": "Sub"}
METHODS = frozenset({"subtract", "elements", "total"})
"""What a counter has beyond a dict."""


def is_tally(value: Value) -> TypeGuard[Mapping]:
    return isinstance(value, Mapping) and value.default is NOTHING


def make_tally(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Mapping:
    """`Counter(...)`: what it is begun with are values by their keys, or things to be counted."""
    tally = Mapping(m.clock)
    tally.default = NOTHING
    for key, value in _given(m, tally, args, kwargs, site):
        tally.items[m.key(key)] = (key, value)
    return tally


def signed(m: Core, tally: Mapping, op: str, site: Site) -> Mapping:
    """`+tally` and `-tally`: what is counted more often than never, or less often."""
    kept = Mapping(m.clock, exact=False)
    kept.default = NOTHING
    for key, (word, value) in tally.items.items():
        kept.items[key] = (word, m.binary("Sub", 0, value, site) if op == "USub" else value)
    return kept


def _total(m: Core, tally: Mapping, site: Site) -> Value:
    total: Value = 0
    for _, value in tally.items.values():
        total = m.binary("Add", total, value, site)
    return m.fresh("number") if is_constant(total) and not tally.exact else total


def _most_common(m: Core, tally: Mapping, site: Site) -> Sequence:
    """The keys and values in pairs, in an order that nobody knows."""
    pairs: list[Value] = [Sequence("tuple", [key, value], m.clock) for key, value in tally.items.values()]
    return Sequence("list", pairs, m.clock, exact=False)


OWN_METHODS: dict[str, Callable[[Core, Mapping, Site], Value]] = {"most_common": _most_common, "total": _total}
"""Methods of a counter that hand out what it holds."""


def added(
    m: Core, tally: Mapping, op: str, args: list[Value], kwargs: dict[str, Value], site: Site
) -> Iterator[tuple[Value, Value]]:
    """The keys and values that a counter has by `update(...)` and its like; the first ones are taken as they are."""
    is_empty = not tally.items and tally.exact and op == "Add"
    for key, value in list(_given(m, tally, args, kwargs, site)):
        held = tally.items.get(m.key(key))
        yield key, value if is_empty else m.binary(op, held[1] if held is not None else 0, value, site)


def _given(
    m: Core, tally: Mapping, args: list[Value], kwargs: dict[str, Value], site: Site
) -> Iterator[tuple[Value, Value]]:
    for source in args:
        if isinstance(source, Mapping):
            yield from source.items.values()
        elif isinstance(source, (Sequence, Iterable)):
            hash_all(m, m.collect(source, site, 64)[0], site)
        tally.exact = tally.exact and isinstance(source, Mapping) and source.exact
    for name, value in kwargs.items():
        if name == "**":
            tally.exact = False
        else:
            yield name, value
