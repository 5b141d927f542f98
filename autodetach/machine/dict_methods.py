"""What the methods of dicts do, key by key as far as they are known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from autodetach.machine.arguments import written_at, written_by_name, written_in_dict
from autodetach.machine.attribute_view import AttributeView
from autodetach.machine.core import Args, Core, Named
from autodetach.machine.counted_keys import counted_key
from autodetach.machine.elements import contains, delete, set_item, subscript
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import hash_all
from autodetach.machine.iteration import tells_fields
from autodetach.machine.others import others_by_keys, others_in
from autodetach.machine.program_values import Iterable
from autodetach.machine.settings import open_written
from autodetach.machine.state import MISSING
from autodetach.machine.steering import picked
from autodetach.machine.tallies import ADDING, OWN_METHODS, added, is_tally
from autodetach.machine.unknown_keys import any_of, is_known, list_to_fill, under_its_name, unknown_key
from autodetach.machine.values import Mapping, Sequence, Value

Method: TypeAlias = Callable[[Core, Mapping, Args, Named, Site], Value]


def dict_method(m: Core, this: Mapping, name: str, args: Args, kwargs: Named, site: Site) -> Value:
    """Call a method of a dict; what is asked with too few arguments gives nobody knows what."""
    if name in ADDING and is_tally(this):
        for key, value in added(m, this, ADDING[name], args, kwargs, site):
            set_item(m, this, key, value, written_by_name(site, key) or written_at(site, 0), site)
        return None
    if name in OWN_METHODS and is_tally(this):
        return OWN_METHODS[name](m, this, site)
    needed, method = METHODS.get(name, (0, _unknown))
    return method(m, this, args, kwargs, site) if len(args) >= needed else m.fresh()


def _unknown(m: Core, this: Mapping, args: Args, kwargs: Named, site: Site) -> Value:
    return m.fresh()


def _looked_up(name: str, m: Core, this: Mapping, args: Args, kwargs: Named, site: Site) -> Value:
    """`get`, `setdefault` and `pop`."""
    hash_all(m, args[:1], site)
    key = m.key(args[0])
    fallback = args[1] if len(args) > 1 else None
    if key in this.items:
        value = this.items[key][1]
        if name == "pop":
            del this.items[key]
        return value
    if name == "pop" and not is_known(args[0]):
        this.dropped = m.clock
    counted = counted_key(m, args[0], site) if name == "setdefault" and not is_known(args[0]) else None
    if counted is not None:
        if counted not in this.items:
            set_item(m, this, args[0], fallback, written_at(site, 1), site)
        return this.items[counted][1]
    guess = _guessed(m, this, name, args[0], fallback, site)
    if guess is not MISSING:
        return picked(m, guess, this, args[0], site)
    if name == "setdefault":
        set_item(m, this, args[0], fallback, written_at(site, 1), site)
    return fallback


def _guessed(m: Core, this: Mapping, name: str, key: Value, fallback: Value, site: Site) -> Value:
    """What stands under a key that is not there for certain, or MISSING."""
    guess = under_its_name(m, this, key)
    if guess is MISSING and name != "setdefault":
        guess = any_of(m, this, key, taken_out=name == "pop")
    if guess is MISSING and name == "setdefault" and isinstance(fallback, Sequence):
        guess = list_to_fill(m, this, key)
    return unknown_key(m, this, key, site) if guess is MISSING else guess


def _update(m: Core, this: Mapping, args: Args, kwargs: Named, site: Site) -> Value:
    for source in args:
        if not isinstance(source, Mapping):
            _update_by_pairs(m, this, source, written_at(site, 0), site)
            continue
        if isinstance(this.items, AttributeView) and isinstance(source.items, AttributeView):
            this.items.take_hidden(source.items)
        for key, value, element in written_in_dict(written_at(site, 0), source):
            set_item(m, this, key, value, element, site)
        this.exact = this.exact and source.exact
    for name, value in kwargs.items():
        set_item(m, this, name, value, None, site)
    return None


def _update_by_pairs(m: Core, this: Mapping, given: Value, element: ast.expr | None, site: Site) -> None:
    """`kept.update([(key, value)])`, of which the values stand in a display of displays, or `element` has them."""
    items, exact = m.collect(given, site)
    rows = element.elts if isinstance(element, (ast.List, ast.Tuple)) and len(element.elts) == len(items) else []
    this.exact = this.exact and exact
    if not exact:
        open_written(m, this)
    for i, pair in enumerate(items):
        if not isinstance(pair, Sequence) or len(pair.items) != 2:
            this.exact = False
            continue
        row = rows[i] if rows else None
        source = row.elts[1] if isinstance(row, ast.Tuple) and len(row.elts) == 2 else element
        set_item(m, this, pair.items[0], pair.items[1], source, site)


def _walked(name: str, m: Core, this: Mapping, args: Args, kwargs: Named, site: Site) -> Iterable:
    """`items()`, `keys()` or `values()` of a dict. Each attribute of an object, and field of a record, counts."""

    def walk(exact: bool) -> Iterator[Value]:
        pairs = list(this.items.values())
        if name == "items":
            return iter([Sequence("tuple", [k, v], m.clock) for k, v in pairs])
        return iter([pair[name == "values"] for pair in pairs])

    listed = isinstance(this.items, AttributeView) or tells_fields(this)
    made = Iterable(walk, len(this.items) if this.exact else None, name, listed=listed)
    made.others = others_by_keys(m, this) if name == "keys" else lambda passed: others_in(m, list(walk(False)))(passed)
    return made


def _clear(m: Core, this: Mapping, args: Args, kwargs: Named, site: Site) -> Value:
    this.items.clear()
    this.exact = True
    return None


def _copy(m: Core, this: Mapping, args: Args, kwargs: Named, site: Site) -> Value:
    copy = Mapping(m.clock, this.exact)
    copy.items.update(this.items)
    copy.default = this.default
    copy.copied = this
    return copy


def _pop_item(m: Core, this: Mapping, args: Args, kwargs: Named, site: Site) -> Value:
    if not this.items:
        return m.fresh()
    is_first = kwargs.get("last", args[0] if args else True) is False
    key, value = this.items.pop(next(iter(this.items) if is_first else reversed(this.items)))
    return Sequence("tuple", [key, value], m.clock)


def _item(m: Core, this: Mapping, args: Args, kwargs: Named, site: Site) -> Value:
    return subscript(m, this, args[0], site)


def _set_item(m: Core, this: Mapping, args: Args, kwargs: Named, site: Site) -> Value:
    if len(args) > 2:
        return m.fresh()
    set_item(m, this, args[0], args[1], written_at(site, 1), site)
    return None


def _delete_item(m: Core, this: Mapping, args: Args, kwargs: Named, site: Site) -> Value:
    delete(m, this, args[0])
    return None


def _contains(m: Core, this: Mapping, args: Args, kwargs: Named, site: Site) -> Value:
    return contains(m, this, args[0], site)


METHODS: dict[str, tuple[int, Method]] = {
    **{name: (1, partial(_looked_up, name)) for name in ("get", "setdefault", "pop")},
    **{name: (0, partial(_walked, name)) for name in ("items", "keys", "values")},
    "update": (0, _update), "clear": (0, _clear), "copy": (0, _copy), "popitem": (0, _pop_item),
    "__getitem__": (1, _item), "__setitem__": (2, _set_item), "__delitem__": (1, _delete_item),
    "__contains__": (1, _contains),
}  # fmt: skip
"""By name: how many arguments a method needs, and what it does."""
