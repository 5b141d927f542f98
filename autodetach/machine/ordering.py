"""The order of what is sorted, or kept sorted, where it is known: by constants, or by what `__lt__` in view says.

Where it is not, elements stay in the order in which they are at hand, as any order is one of those that may be.
Source: https://docs.python.org/3/howto/sorting.html
"""

from __future__ import annotations

from autodetach.machine.arguments import written_at
from autodetach.machine.core import Args, Core, Handler, Named
from autodetach.machine.graph import Site
from autodetach.machine.held import held_by
from autodetach.machine.implicit_calls import compare_in_order, is_followed, special
from autodetach.machine.joining import put
from autodetach.machine.state import MISSING
from autodetach.machine.steering import ordered
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import Sequence, Value

MAX_COMPARED = 16
"""Elements that are no constants, whose order is looked at."""


class _UnknownError(Exception):
    """Nobody knows which of two elements comes first."""


def in_order(m: Core, items: list[Value], kwargs: Named, site: Site) -> list[Value]:
    """The items as `sorted(items, key=..., reverse=...)` gives them."""
    key, reverse = kwargs.get("key"), kwargs.get("reverse", False)
    if key is not None and not is_followed(key):
        return items
    keys = items if key is None else [m.call(key, [item], {}, site) for item in items]
    try:
        if not isinstance(reverse, (bool, int)):
            raise _UnknownError
        places = _sorted_places(m, keys[::-1] if reverse else keys, site)
    except _UnknownError:
        if key is not None or any(isinstance(item, Sequence) for item in items):
            ordered(m, keys, site)
        compare_in_order(m, keys, None, site)
        return items
    return [items[~at] for at in reversed(places)] if reverse else [items[at] for at in places]


def _sorted_places(m: Core, keys: list[Value], site: Site) -> list[int]:
    """At which place the first key in order stands, the second, and so on. Raises _UnknownError."""
    if all(is_constant(key) for key in keys):
        try:
            return sorted(range(len(keys)), key=keys.__getitem__)
        except TypeError:
            raise _UnknownError from None
    if len(keys) > MAX_COMPARED:
        raise _UnknownError
    ordered: list[int] = []
    for at, key in enumerate(keys):
        ordered.insert(_place(m, [keys[i] for i in ordered], key, site, right=True), at)
    return ordered


def _place(m: Core, keys: list[Value], key: Value, site: Site, *, right: bool) -> int:
    """Where an element with that key belongs among sorted ones: behind those that are equal, or in front of them.

    Raises _UnknownError.
    """
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        first, second = (key, keys[middle]) if right else (keys[middle], key)
        if _is_less(m, first, second, site) is right:
            high = middle
        else:
            low = middle + 1
    return low


def _is_less(m: Core, one: Value, other: Value, site: Site) -> bool:
    """Raises _UnknownError."""
    if is_constant(one) and is_constant(other):
        try:
            return bool(one < other)
        except TypeError:
            raise _UnknownError from None
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        return _is_row_less(m, one, other, site)
    result = special(m, one, ("__lt__",), [other], site)
    if result is MISSING:
        result = special(m, other, ("__gt__",), [one], site)
    known = None if result is MISSING else m.known_truth(result, site)
    if known is None:
        raise _UnknownError
    return known


def _is_row_less(m: Core, one: Sequence, other: Sequence, site: Site) -> bool:
    if one.kind != other.kind or one.kind not in ("list", "tuple") or not (one.exact and other.exact):
        raise _UnknownError
    for first, second in zip(one.items, other.items, strict=False):
        both = is_constant(first) and is_constant(second)
        if first is not second and not (both and first == second):
            if not both and special(m, first, ("__eq__",), [second], site) is not MISSING:
                raise _UnknownError
            return _is_less(m, first, second, site)
    return len(one.items) < len(other.items)


# ---- bisect


def _searched(*, right: bool) -> Handler:
    """`bisect.bisect(items, x)`: where it belongs."""

    def search(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
        at = _place_in(m, args, kwargs, None, site, right=right)
        return m.fresh("number", lo=0) if at is None else at

    return search


def _inserted(*, right: bool) -> Handler:
    """`bisect.insort(items, x)`: a list that holds one more, where that belongs."""

    def insert(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
        this = held_by(args[0]) if len(args) > 1 else None
        if not isinstance(this, Sequence):
            return m.call_unknown("bisect.insort", args, kwargs, site)
        at = _place_in(m, args, kwargs, kwargs.get("key"), site, right=right)
        put(m, this, args[1], written_at(site, 1), site, "append", at)
        return None

    return insert


def _place_in(m: Core, args: Args, kwargs: Named, own: Value, site: Site, *, right: bool) -> int | None:
    """Where the second argument belongs in the first, whose elements have keys; `own` is the function for its own."""
    this, key = held_by(args[0]) if len(args) == 2 else None, kwargs.get("key")
    is_plain = not kwargs.keys() - {"key"} and (key is None or is_followed(key))
    if not isinstance(this, Sequence) or not this.exact or not is_plain:
        return None
    few = this.items if all(is_constant(item) for item in this.items) else this.items[:MAX_COMPARED]
    try:
        keys = few if key is None else [m.call(key, [item], {}, site) for item in few]
        at = _place(m, keys, args[1] if own is None else m.call(own, args[1:], {}, site), site, right=right)
    except _UnknownError:
        return None
    return at if len(few) == len(this.items) else None


HANDLERS: dict[str, Handler] = {
    "bisect.bisect": _searched(right=True), "bisect.bisect_right": _searched(right=True),
    "bisect.bisect_left": _searched(right=False),
    "bisect.insort": _inserted(right=True), "bisect.insort_right": _inserted(right=True),
    "bisect.insort_left": _inserted(right=False),
}  # fmt: skip
