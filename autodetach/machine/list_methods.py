"""What the methods of lists, tuples, sets and deques do, element by element as far as they are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from autodetach.machine.arguments import written_at
from autodetach.machine.core import Args, Core
from autodetach.machine.elements import delete, subscript
from autodetach.machine.extents import Extent
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import compare_with, hash_all
from autodetach.machine.iteration import length
from autodetach.machine.joining import copy_of, extend, put, united
from autodetach.machine.number_readers import truth_of_sums
from autodetach.machine.others import one_of
from autodetach.machine.state import Raised
from autodetach.machine.steering import moved
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import Sequence, Value

Method: TypeAlias = Callable[[Core, Sequence, Args, Site], Value]


def list_method(m: Core, this: Sequence, name: str, args: Args, site: Site) -> Value:
    """Call a method of a list, tuple, set or deque; what is asked with too few arguments gives nobody knows what."""
    needed, method = METHODS.get(name, (0, _unknown))
    return method(m, this, args, site) if len(args) >= needed else m.fresh()


def _unknown(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    return m.fresh()


def _append(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    put(m, this, args[0], written_at(site, 0), site, "append")
    return None


def _add(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    hash_all(m, [*this.items[-1:], args[0]], site)
    return None if args[0] in this.items else _append(m, this, args, site)


def _append_left(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    put(m, this, args[0], written_at(site, 0), site, "append", 0)
    return None


def _insert(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    if this.exact and isinstance(this.maxlen, int) and len(this.items) >= this.maxlen and not m.widening:
        raise Raised("IndexError")
    moved(m, args[:1], site)
    put(m, this, args[1], written_at(site, 1), site, "append", args[0] if isinstance(args[0], int) else None)
    return None


def _extend(m: Core, this: Sequence, args: Args, site: Site, at: int | None = None) -> Value:
    """A set takes several iterables."""
    for i, given in enumerate(args if this.kind == "set" else args[:1]):
        extend(m, this, given, written_at(site, i), site, at)
    return None


def _extend_left(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    return _extend(m, this, args, site, 0)


def _pop(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    if m.in_backward and not args:
        this.unwound = m.clock
    else:
        this.dropped = m.clock
    return _taken(m, this, args, -1, site)


def _pop_left(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    this.dropped = m.clock
    return _taken(m, this, args, 0, site)


def _taken(m: Core, this: Sequence, args: Args, at: int, site: Site) -> Value:
    """The element at a place that is given, or `at`, which leaves the container."""
    if not this.items:
        if this.exact and not m.widening:
            raise Raised("IndexError")
        return m.opaque("item")
    moved(m, args, site)
    place: Value = args[0] if args else at
    known = isinstance(place, int) and -len(this.items) <= place < len(this.items)
    item = one_of(m, this, this.items[place if known else -1], None, site)
    this.items.pop(place if known else -1)
    return item


def _clear(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    this.items.clear()
    this.exact = True
    return None


def _copy(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    return copy_of(m, this, this.kind)


def _reverse(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    this.items.reverse()
    this.extent = Extent(object())
    return None


def _remove(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    if this.kind == "set":
        hash_all(m, args, site)
    compare_with(m, this.items, args[0], site)
    for item in this.items:
        if item is args[0] or (is_constant(item) and is_constant(args[0]) and item == args[0]):
            this.items.remove(item)
            break
    return None


def _rotate(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    by = args[0] if args else 1
    this.extent = Extent(object())
    if this.exact and this.items and isinstance(by, int):
        by %= len(this.items)
        this.items[:] = [*this.items[-by:], *this.items[:-by]]
    return None


def _sort(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    this.extent = Extent(object())
    return None  # any order is one of those that are looked at


def _place(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    """`index` and `count`, which compare the elements."""
    compare_with(m, this.items, args[0] if args else None, site)
    return m.fresh("number", 0, truth_of_sums(args))


def _union(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    return united(m, this, args, [written_at(site, i) for i in range(len(args))], site)


def _some(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    """A set of some of the elements, nobody knows which."""
    return Sequence("set", list(this.items), m.clock, False)


def _length(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    return length(m, this)


def _item(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    return subscript(m, this, args[0], site)


def _deleted(m: Core, this: Sequence, args: Args, site: Site) -> Value:
    delete(m, this, args[0])
    return None


METHODS: dict[str, tuple[int, Method]] = {
    "append": (1, _append), "add": (1, _add), "appendleft": (1, _append_left), "insert": (2, _insert),
    "extend": (1, _extend), "update": (1, _extend), "extendleft": (1, _extend_left),
    "pop": (0, _pop), "popleft": (0, _pop_left), "clear": (0, _clear), "copy": (0, _copy), "reverse": (0, _reverse),
    "remove": (1, _remove), "discard": (1, _remove), "rotate": (0, _rotate), "sort": (0, _sort),
    "index": (0, _place), "count": (0, _place), "union": (0, _union),
    "intersection": (0, _some), "difference": (0, _some), "symmetric_difference": (0, _some),
    "__len__": (0, _length), "__getitem__": (1, _item), "__delitem__": (1, _deleted),
}  # fmt: skip
"""By name: how many arguments a method needs, and what it does."""
