"""Tables that are read by keys of which nothing is known: which of the values is meant."""

from __future__ import annotations

import ast

from autodetach.machine.classes import linear_order
from autodetach.machine.core import Core
from autodetach.machine.graph import Node, Site
from autodetach.machine.held import contents, graph_in, tensors_in
from autodetach.machine.implicit_calls import own_method
from autodetach.machine.program_values import Class, Instance
from autodetach.machine.state import MISSING
from autodetach.machine.told_of_values import is_constant, is_number, key_of
from autodetach.machine.values import PASSED, Mapping, Opaque, Sequence, Sym, Tensor, Value

HOLDERS = (Tensor, Sequence, Mapping, Instance)
DEEP = 4
"""Levels of a key that are compared."""


def unknown_key(m: Core, this: Mapping, key: Value, site: Site) -> Value:
    """A look-up by a key that is not there for certain: the only value of an equal unknown key, else MISSING."""
    from autodetach.machine.chosen_by_default import entries_by_default

    possible = [value for other, value in this.items.values() if may_be(key, other)] if this.exact else []
    if this.exact and is_known(key):
        if len(possible) < 2:
            return possible[0] if possible else MISSING
        # One of several whose keys are not known; the next look-up by this key gives the same one.
        found = m.unknown_result("item", possible, site)
        this.items[m.key(key)] = (key, found)
        return found
    if possible:
        if len(this.items) > 1 and all(isinstance(value, str) for _, value in this.items.values()):
            return m.sym(("[]", m.key(this), m.key(key)), "str")  # one of several names
        youngest = _youngest([this.items[n][1] for n in entries_by_default(m, this, key, site)] or possible)
        return m.opaque("item") if _is_cut(m, this, youngest) else youngest
    if not this.exact:
        if (alike := _as_the_others(m, this, key)) is not MISSING:
            return alike
        possible = [k for k, (other, value) in this.items.items() if not is_known(other) and any(graph_in(value))]
        if not possible or not is_known(key):
            return m.opaque("item")
        # Of those that were put there under names that nobody knows, each known name means another one.
        value = this.items.pop(possible[0])[1]
        this.items[m.key(key)] = (key, value)
        return value
    return MISSING


def _as_the_others(m: Core, this: Mapping, key: Value) -> Value:
    """What a loop that was cut short puts there later, where all so far are numbers that were tensors; or MISSING.

    Of records with such numbers, the last one stands for any.
    """
    values = [value for _, value in this.items.values()]
    if values and all(_was_tensor(value) for value in values):
        tags = frozenset(tag for value in values if isinstance(value, Sym) for tag in value.tags)
        return m.sym(("[]", m.key(this), m.key(key)), "number", None, tags)
    records = [contents(value) for value in values if isinstance(value, (Sequence, Mapping))]
    if not values or len(records) < len(values) or len({len(record) for record in records}) > 1:
        return MISSING
    is_told = all(any(map(_was_tensor, r)) and all(is_constant(v) or isinstance(v, Sym) for v in r) for r in records)
    return values[-1] if is_told else MISSING


def _was_tensor(value: Value) -> bool:
    return isinstance(value, Sym) and bool(value.tags - {PASSED}) and is_number(value)


def under_its_name(m: Core, this: Mapping, key: Value) -> Value:
    """What stands under a key of a dict's own, as in `for k in kept: kept[k]`, that a loop has counted; or MISSING."""
    if is_known(key):
        return MISSING
    name = m.key(key)
    return next((value for other, value in this.items.values() if m.key(other) == name), MISSING)


def any_of(m: Core, this: Mapping, key: Value, *, taken_out: bool = False) -> Value:
    """What stands under a key of which nothing is known, in a table by such keys; or MISSING.

    The youngest that has history stands for any of them, as in a list. With `taken_out`, it is not there any more.
    """
    if this.exact or is_known(key):
        return MISSING
    values = [value for other, value in this.items.values() if not is_known(other) and isinstance(value, HOLDERS)]
    carrying = [value for value in values if _history_in(value)]
    if not carrying or len(values) < len(this.items) or _is_cut(m, this, carrying[-1]):
        return MISSING
    found = m.draw(carrying[-1], contents(this), more=True)
    if taken_out:
        del this.items[next(name for name, (_, value) in this.items.items() if value is found)]
    else:
        this.items[m.key(key)] = (key, found)  # the next look-up by this key gives the same one
    return found


def filled_since(m: Core, this: Mapping, key: Value, value: Value) -> Value:
    """What a key that is known may stand for instead of an empty list that a default dict made for it; or MISSING.

    The program may have filled that list since then, by a key of which nothing is known.
    """
    if not is_known(key) or not isinstance(value, (Sequence, Mapping)) or contents(value):
        return MISSING
    others = [v for other, v in this.items.values() if not is_known(other) and isinstance(v, type(value))]
    filled = [v for v in others if any(getattr(item, "born", 0) > value.born for item in contents(v))]
    carrying = [v for v in filled if _history_in(v)]
    if carrying and _is_cut(m, this, carrying[-1]):
        carrying = []
        filled = [v for v in filled if not _history_in(v)]
    return m.draw((carrying or filled)[-1], others, more=True) if filled else MISSING


def list_to_fill(m: Core, this: Mapping, key: Value) -> Value:
    """Which list `setdefault` gives to be added to, for a key of which nothing is known, in a long loop; or MISSING.

    As where the table is known to the last key, that is the youngest under such a key, which has this one from now on.
    """
    if this.exact or is_known(key):
        return MISSING
    lists = [(n, v) for n, (other, v) in this.items.items() if not is_known(other) and isinstance(v, Sequence)]
    if not lists or _is_cut(m, this, lists[-1][1]):
        return MISSING
    name, found = lists[-1]
    del this.items[name]
    this.items[m.key(key)] = (key, found)
    return found


def is_filled_here(m: Core, this: Mapping, site: Site) -> bool:
    """Whether what a default dict has under a key is asked for to be added to: an entry that is not there is made."""
    node = site.node
    return this.default is not None and (node is m.filled_place or _is_written(node))


def _is_written(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)


def _history_in(value: Value) -> list[Node]:
    """What a value carries into a differentiation: no parameters, and nothing that is only assumed to have history."""
    tensors = (t for t in tensors_in(value) if isinstance(t, Tensor))
    return [t.node for t in tensors if t.node is not None and (t is value or not t.node.leaf)]


def _youngest(values: list[Value]) -> Value:
    """The last value; but where that has history, the one whose history is the youngest: keys are written again."""
    ages = [max((node.number for node in _history_in(value)), default=-1) for value in values]
    return values[-1] if ages[-1] < 0 else values[ages.index(max(ages))]


def _is_cut(m: Core, this: Mapping, value: Value) -> bool:
    """Whether a table is detached behind the last differentiation: of a long one, only the first few are seen to be."""
    last = max((d.number for d in m.differentiations[-1:]), default=0)
    if all(node.number > last for node in _history_in(value)):
        return False
    return max(this.cut, *(m.cut.get(t, 0) for stored in contents(this) for t in tensors_in(stored))) >= last


def is_known(key: Value) -> bool:
    if isinstance(key, Sequence):
        return key.exact and all(is_known(k) for k in key.items)
    return not isinstance(key, (Sym, Opaque))


def may_be(key: Value, other: Value, depth: int = DEEP) -> bool:
    """Whether two keys may be equal: unknown ones, tuples with such parts, and what compares by what it holds."""
    if isinstance(key, (Sym, Opaque)) or isinstance(other, (Sym, Opaque)):
        return True
    if isinstance(key, Sequence) and isinstance(other, Sequence):
        return key.kind == other.kind and _may_hold_the_same(key, other, depth)
    if isinstance(key, Instance) and isinstance(other, Instance) and key is not other and depth:
        is_compared = key.cls is other.cls and (_is_record(key) or own_method(key, "__eq__") is not None)
        return is_compared and _may_all_be(list(key.attrs.values()), list(other.attrs.values()), depth)
    return key_of(key) == key_of(other)


def _may_hold_the_same(some: Sequence, others: Sequence, depth: int) -> bool:
    if not (some.exact and others.exact):
        return True
    if some.kind == "tuple":
        return _may_all_be(some.items, others.items, depth)
    return not (is_known(some) and is_known(others)) or set(map(key_of, some.items)) == set(map(key_of, others.items))


def _may_all_be(some: list[Value], others: list[Value], depth: int) -> bool:
    pairs = zip(some, others, strict=False)
    return len(some) == len(others) and all(may_be(one, other, depth - 1) for one, other in pairs)


def _is_record(this: Instance) -> bool:
    """Whether its class has fields, by which Python compares it."""
    order = linear_order(this.cls) if isinstance(this.cls, Class) else []
    return any(isinstance(cls, Class) and cls.fields is not None for cls in order)
