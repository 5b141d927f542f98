"""Builtins that make containers and iterators, and `next`."""

from __future__ import annotations

from autodetach.machine import joining
from autodetach.machine.core import Core, Handler
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import as_mapping, hash_all
from autodetach.machine.program_values import Instance, Iterable
from autodetach.machine.state import MISSING, Raised
from autodetach.machine.taken_early import note_taken
from autodetach.machine.values import Mapping, Opaque, Sequence, Value


def maker_of(kind: str) -> Handler:
    """What makes a Sequence of a kind: `list(...)`, `tuple(...)`, `set(...)`, `deque(...)`."""

    def make(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        if not args:
            return Sequence(kind, [], m.clock)
        if isinstance(args[0], Sequence) and kind != "set":
            return joining.copy_of(m, args[0], kind)
        if isinstance(args[0], Iterable) and isinstance(args[0].taken, Sequence) and kind in ("list", "tuple"):
            args[0].taken.kind = kind
            return args[0].taken
        if isinstance(args[0], Iterable) and kind in ("list", "tuple") and (args[0].frame or args[0].name == "map"):
            return joining.gathered(m, args[0], kind, site)
        items, exact = m.collect(args[0], site, 64)
        if kind == "set":
            hash_all(m, items, site)
        return Sequence(kind, items, m.clock, exact)

    return make


def make_dict(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`dict(...)`."""
    result = Mapping(m.clock)
    if args:
        given = as_mapping(m, args[0], site)
        if isinstance(given, Mapping):
            result.items.update(given.items)
            result.exact = given.exact
        else:
            items, exact = m.collect(args[0], site, 64)
            result.exact = exact
            for pair in items:
                item = Sequence("list", m.collect(pair, site)[0]) if isinstance(pair, Iterable) else pair
                if isinstance(item, Sequence) and len(item.items) == 2:
                    hash_all(m, item.items[:1], site)
                    result.items[m.key(item.items[0])] = (item.items[0], item.items[1])
                else:
                    result.exact = False
    for name, value in kwargs.items():
        if name == "**":
            result.exact = False
        else:
            result.items[m.key(name)] = (name, value)
    return result


def dict_of_keys(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`dict.fromkeys(names, 0)`: every key has the same value."""
    keys, exact = m.collect(args[0], site, 64) if args else ([], False)
    hash_all(m, keys, site)
    result = Mapping(m.clock, exact)
    value = args[1] if len(args) > 1 else None
    result.items.update((m.key(key), (key, value)) for key in keys)
    return result


def iterator_of(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    inner = m.items_of(args[0], site)
    if inner.once:
        return inner
    made = Iterable(inner.make, inner.length, inner.name, once=True, short=inner.short)
    made.usual, made.others = inner.usual, inner.others
    return made


def next_item(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    iterator = args[0] if args else None
    if isinstance(iterator, Iterable):
        exact = iterator.length is not None and iterator.length <= 16
        iterator.once = True  # what `next` takes from goes on behind that: `zip`, `enumerate`, `filter`
        for item in iterator.start(exact):
            iterator.latest = item
            return note_taken(m, iterator, item)
        if len(args) > 1:
            return args[1]
        if exact:
            raise Raised("StopIteration")
        return m.opaque("item")
    if isinstance(iterator, Instance):
        raw = m.lookup(iterator, "__next__", site)
        if raw is not MISSING and not isinstance(raw, Opaque):
            return m.call(raw, [], {}, site)
    if isinstance(iterator, Opaque):
        return m.part(iterator, "item", site)
    return m.opaque("item")
