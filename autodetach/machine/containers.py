"""The methods of lists, tuples, sets, deques and dicts: element by element as far as they are known."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from autodetach.machine import texts
from autodetach.machine.arguments import written_at
from autodetach.machine.attribute_view import AttributeView
from autodetach.machine.core import Core
from autodetach.machine.counted_keys import counted_key
from autodetach.machine.elements import contains, set_item, subscript
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import compare_in_order, compare_with, hash_all
from autodetach.machine.iteration import length
from autodetach.machine.joining import copy_of, extend, put, united
from autodetach.machine.state import MISSING, Raised
from autodetach.machine.tallies import ADDING, METHODS, added, is_tally
from autodetach.machine.unknown_keys import any_of, is_known, list_to_fill, under_its_name, unknown_key
from autodetach.machine.values import Iterable, Mapping, Native, Sequence, Value, is_constant

LIST_METHODS = frozenset(
    "append extend insert remove pop clear index count sort reverse copy appendleft popleft extendleft rotate".split()
)
SET_METHODS = frozenset(
    "add remove discard pop clear union intersection difference symmetric_difference update copy issubset issuperset "
    "intersection_update difference_update isdisjoint".split()
)
FILLING = frozenset("add append appendleft clear extend extendleft insert update".split())
"""What gives nothing that is in a container."""
DICT_METHODS = frozenset(
    "get setdefault update pop popitem clear items keys values copy move_to_end most_common fromkeys".split()
)


def has_method(this: Value, name: str) -> bool:
    if isinstance(this, Mapping):
        return name in DICT_METHODS or (name in METHODS and is_tally(this))
    if isinstance(this, Sequence):
        if this.kind == "set":
            return name in SET_METHODS
        if this.kind == "tuple":
            return name in ("index", "count", "_asdict", "_replace")
        return name in LIST_METHODS
    return hasattr(this, name)


def attribute(m: Core, this: Value, name: str) -> Value:
    if isinstance(this, Sequence):
        if name in this.attrs:
            return this.attrs[name]
        if name == "maxlen" and this.kind == "deque":
            return this.maxlen
    if name.startswith("__") or has_method(this, name):
        return Native(name, lambda args, kwargs, site: method(m, this, name, args, kwargs, site), this)
    return MISSING


def method(m: Core, this: Value, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    if isinstance(this, (str, bytes)):
        return texts.method(m, this, name, args, kwargs, site)
    if isinstance(this, Sequence) and name in this.attrs:
        return m.call(this.attrs[name], args, kwargs, site)
    if name == "numel" and isinstance(this, Sequence) and this.kind == "tuple":
        return _elements_of_shape(m, this)
    if not has_method(this, name) and not name.startswith("__"):
        m.refuse(site, f"a {this.kind if isinstance(this, Sequence) else 'dict'} has no attribute `{name}`")
    if name not in FILLING:
        m.note_read(this)
    if isinstance(this, Mapping):
        return _dict_method(m, this, name, args, kwargs, site)
    if name == "sort":
        compare_in_order(m, this.items, kwargs.get("key"), site)
    return _list_method(m, this, name, args, site)


def _elements_of_shape(m: Core, this: Sequence) -> Value:
    """How many elements a tensor of this shape has: no other tuple is asked."""
    sizes = [size for size in this.items if isinstance(size, int)]
    if this.exact and len(sizes) == len(this.items):
        return math.prod(sizes)
    return m.sym(("numel", m.key(this)), "number", lo=1)


def _list_method(m: Core, this: Sequence, name: str, args: list[Value], site: Site) -> Value:
    if name in ("append", "add") and args:
        if name == "add":
            hash_all(m, [*this.items[-1:], args[0]], site)
        if name == "append" or args[0] not in this.items:
            put(m, this, args[0], written_at(site, 0), site, "append")
        return None
    if name == "appendleft" and args:
        put(m, this, args[0], written_at(site, 0), site, "append", 0)
        return None
    if name == "insert" and len(args) > 1:
        if this.exact and isinstance(this.maxlen, int) and len(this.items) >= this.maxlen and not m.widening:
            raise Raised("IndexError")
        put(m, this, args[1], written_at(site, 1), site, "append", args[0] if isinstance(args[0], int) else None)
        return None
    if name in ("extend", "update", "extendleft") and args:
        for i, given in enumerate(args if this.kind == "set" else args[:1]):
            extend(m, this, given, written_at(site, i), site, 0 if name == "extendleft" else None)
        return None
    if name in ("pop", "popleft"):
        if m.in_backward and name == "pop" and not args:
            this.unwound = m.clock
        else:
            this.dropped = m.clock
        if not this.items:
            if this.exact and not m.widening:
                raise Raised("IndexError")
            return m.opaque("item")
        if not args:
            return this.items.pop(0 if name == "popleft" else -1)
        if isinstance(args[0], int) and -len(this.items) <= args[0] < len(this.items):
            return this.items.pop(args[0])
        return this.items.pop()
    if name == "clear":
        this.items.clear()
        this.exact = True
        return None
    if name == "copy":
        return copy_of(m, this, this.kind)
    if name == "reverse":
        this.items.reverse()
        return None
    if name in ("remove", "discard"):
        if args:
            compare_with(m, this.items, args[0], site)
            for item in this.items:
                if item is args[0] or (is_constant(item) and is_constant(args[0]) and item == args[0]):
                    this.items.remove(item)
                    break
        return None
    if name == "rotate":
        by = args[0] if args else 1
        if this.exact and this.items and isinstance(by, int):
            by %= len(this.items)
            this.items[:] = [*this.items[-by:], *this.items[:-by]]
        return None
    if name == "sort":
        return None
    if name in ("index", "count"):
        compare_with(m, this.items, args[0] if args else None, site)
        return m.fresh("number", lo=0)
    if name == "union":
        return united(m, this, args, [written_at(site, i) for i in range(len(args))], site)
    if name in ("intersection", "difference", "symmetric_difference"):
        return Sequence("set", list(this.items), m.clock, False)
    if name == "__len__":
        return length(m, this)
    if name == "__getitem__" and args:
        return subscript(m, this, args[0], site)
    return m.fresh()


def _dict_method(m: Core, this: Mapping, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    if name in ("get", "setdefault", "pop") and args:
        key = m.key(args[0])
        fallback = args[1] if len(args) > 1 else None
        if key in this.items:
            value = this.items[key][1]
            if name == "pop":
                del this.items[key]
            return value
        counted = counted_key(m, args[0], site) if name == "setdefault" and not is_known(args[0]) else None
        if counted is not None:
            if counted not in this.items:
                set_item(m, this, args[0], fallback, written_at(site, 1), site)
            return this.items[counted][1]
        guess = under_its_name(m, this, args[0])
        if guess is MISSING and name != "setdefault":
            guess = any_of(m, this, args[0], taken_out=name == "pop")
        if guess is MISSING and name == "setdefault" and isinstance(fallback, Sequence):
            guess = list_to_fill(m, this, args[0])
        if guess is MISSING:
            guess = unknown_key(m, this, args[0], site)
        if guess is not MISSING:
            return guess
        if name == "setdefault":
            set_item(m, this, args[0], fallback, written_at(site, 1), site)
        return fallback
    if name in ADDING and is_tally(this):
        for k, v in added(m, this, ADDING[name], args, kwargs, site):
            set_item(m, this, k, v, written_at(site, 0), site)
        return None
    if name == "update":
        for source in args:
            if isinstance(source, Mapping):
                if isinstance(this.items, AttributeView) and isinstance(source.items, AttributeView):
                    this.items.take_hidden(source.items)
                for k, v in source.items.values():
                    set_item(m, this, k, v, written_at(site, 0), site)
                this.exact = this.exact and source.exact
            else:
                _update_by_pairs(m, this, source, written_at(site, 0), site)
        for k, v in kwargs.items():
            set_item(m, this, k, v, None, site)
        return None
    if name in ("items", "keys", "values"):
        return _walked(m, this, name)
    if name == "clear":
        this.items.clear()
        this.exact = True
        return None
    if name == "copy":
        copy = Mapping(m.clock, this.exact)
        copy.items.update(this.items)
        copy.default = this.default
        copy.copied = this
        return copy
    if name == "popitem" and this.items:
        is_first = kwargs.get("last", args[0] if args else True) is False
        k, v = this.items.pop(next(iter(this.items) if is_first else reversed(this.items)))
        return Sequence("tuple", [k, v], m.clock)
    if name == "__getitem__" and args:
        return subscript(m, this, args[0], site)
    if name == "__setitem__" and len(args) == 2:
        return set_item(m, this, args[0], args[1], written_at(site, 1), site)
    if name == "__contains__" and args:
        return contains(m, this, args[0], site)
    return m.fresh()


def _update_by_pairs(m: Core, this: Mapping, given: Value, element: ast.expr | None, site: Site) -> None:
    """`kept.update([(key, value)])`, of which the values stand in a display of displays, or `element` has them."""
    items, exact = m.collect(given, site)
    rows = element.elts if isinstance(element, (ast.List, ast.Tuple)) and len(element.elts) == len(items) else []
    this.exact = this.exact and exact
    for i, pair in enumerate(items):
        if not isinstance(pair, Sequence) or len(pair.items) != 2:
            this.exact = False
            continue
        row = rows[i] if rows else None
        source = row.elts[1] if isinstance(row, ast.Tuple) and len(row.elts) == 2 else element
        set_item(m, this, pair.items[0], pair.items[1], source, site)


def _walked(m: Core, this: Mapping, name: str) -> Iterable:
    """`items()`, `keys()` or `values()` of a dict. Each attribute of an object counts, however many it has."""

    def walk(exact: bool) -> Iterator[Value]:
        pairs = list(this.items.values())
        if name == "items":
            return iter([Sequence("tuple", [k, v], m.clock) for k, v in pairs])
        return iter([pair[name == "values"] for pair in pairs])

    listed = isinstance(this.items, AttributeView)
    return Iterable(walk, len(this.items) if this.exact else None, name, listed=listed)
