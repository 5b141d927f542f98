"""`functools.lru_cache` and `functools.cache`: the same arguments give the same object, until it is forgotten.

https://docs.python.org/3/library/functools.html#functools.lru_cache
"""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Hashable

from autodetach.machine.activations import Activation, Loops, pass_of
from autodetach.machine.core import Args, Core, Handler, Named
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import hash_all
from autodetach.machine.program_values import Function, Method, Native
from autodetach.machine.values import Value

USUAL_SIZE = 128
"""How many results `lru_cache` keeps that is not told."""


class _Entry:
    """A result, and where it was asked for last."""

    __slots__ = ("loops", "place", "value")

    def __init__(self, value: Value, place: ast.AST, loops: Loops) -> None:
        self.value = value
        self.place = place
        self.loops = loops


class _Memo:
    """The results of a function by its arguments, the one that was asked for last at the end; `size`: so many at most.

    A `size` of which nothing is known is a negative one.
    """

    def __init__(self, size: int | None) -> None:
        self._size = size
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._asked: dict[tuple[ast.AST, Activation], set[Hashable]] = {}

    def clear(self) -> None:
        self._entries.clear()

    def find(self, key: Hashable, place: ast.AST, loops: Loops) -> _Entry | None:
        """What is kept for certain under a key."""
        if self._size is not None:
            for p in loops:
                self._asked.setdefault((place, p.activation), set()).add(key)
        entry = self._entries.get(key)
        if entry is None or self._may_be_forgotten(key, entry, loops):
            return None
        entry.place, entry.loops = place, loops
        self._entries.move_to_end(key)
        return entry

    def keep(self, key: Hashable, value: Value, place: ast.AST, loops: Loops) -> None:
        self._entries[key] = _Entry(value, place, loops)
        self._entries.move_to_end(key)
        if self._size is not None and 0 <= self._size < len(self._entries):
            self._entries.popitem(last=False)

    def _may_be_forgotten(self, key: Hashable, entry: _Entry, loops: Loops) -> bool:
        """Whether too many others may have been asked for since then, with those of passes that are not executed."""
        if self._size is None:
            return False
        others = 0
        counted: set[tuple[ast.AST, Activation]] = set()
        for name in reversed(self._entries):
            other = self._entries[name]
            ended = [p.activation for p in other.loops if pass_of(loops, p.activation) is None]
            varied = [a for a in ended if len(self._asked[other.place, a]) > 1]
            if not varied:
                others += name != key
            elif (other.place, varied[0]) not in counted:
                counted.add((other.place, varied[0]))
                asked = _times(varied)
                if asked is None:
                    return True
                others += asked
            if name == key:
                others -= bool(varied)  # it is one of those
                break
        return others > max(self._size - 1, 0)


def _times(loops: list[Activation]) -> int | None:
    """How many passes loops have in all, the one in the other, if that is known."""
    times = 1
    for loop in loops:
        if loop.length is None:
            return None
        times *= loop.length
    return times


def memoised(m: Core, function: Value, size: int | None) -> Native:
    """A function that keeps so many of its results, or all of them."""
    memo = _Memo(size)

    def run(args: Args, kwargs: Named, site: Site) -> Value:
        hash_all(m, [*args, *kwargs.values()], site)
        key = (tuple(m.key(a) for a in args), tuple((k, m.key(v)) for k, v in kwargs.items()))
        entry = memo.find(key, site.node, m.loops) if size != 0 else None
        if entry is not None:
            return entry.value
        value = m.call(function, args, kwargs, site)
        if size != 0:
            memo.keep(key, value, site.node, m.loops)
        return value

    def clear(args: Args, kwargs: Named, site: Site) -> Value:
        memo.clear()
        return None

    made = Native("memoised", run, function)
    made.attrs["cache_clear"] = Native("cache_clear", clear)
    made.attrs["__wrapped__"] = function
    return made


def _cache(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    return memoised(m, next(iter(args), None), None)


def _lru_cache(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    size = args[0] if args else kwargs.get("maxsize", USUAL_SIZE)
    if isinstance(size, (Function, Method)):
        return memoised(m, size, USUAL_SIZE)
    most = size if size is None or isinstance(size, int) else -1
    return Native("lru_cache", lambda inner, k, s: memoised(m, next(iter(inner), None), most))


HANDLERS: dict[str, Handler] = {"functools.lru_cache": _lru_cache, "functools.cache": _cache}
