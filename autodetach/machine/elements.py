"""Elements of containers by index and key: read, written, taken away and looked for."""

from __future__ import annotations

import ast

from autodetach.machine import texts
from autodetach.machine.arguments import written_at
from autodetach.machine.bounded import is_little
from autodetach.machine.chosen_entries import is_set_elsewhere
from autodetach.machine.core import Core
from autodetach.machine.counted_keys import counted_key, counted_place
from autodetach.machine.events import Tail
from autodetach.machine.graph import Site
from autodetach.machine.held import graph_in
from autodetach.machine.implicit_calls import compare_with, hash_all, is_like_a_number
from autodetach.machine.marks import ITEMS
from autodetach.machine.others import one_of
from autodetach.machine.program_values import Instance, Iterable
from autodetach.machine.rhythms import modulus
from autodetach.machine.settings import set_surely
from autodetach.machine.slices import delete_slice, sliced, without
from autodetach.machine.state import MISSING, Raised
from autodetach.machine.steering import rated
from autodetach.machine.told_of_values import is_constant, is_number, key_of
from autodetach.machine.unknown_keys import any_of, filled_since, is_filled_here, is_known, under_its_name, unknown_key
from autodetach.machine.values import Mapping, Opaque, Sequence, Slice, Sym, Value
from autodetach.machine.windows import from_end


def subscript(m: Core, this: Value, index: Value, site: Site) -> Value:
    """`this[index]`, of which the youngest element stands for all where the index is not known. Raises Raised."""
    if isinstance(this, (str, bytes)):
        return texts.subscript(m, this, index)
    m.note_read(this, whole=isinstance(index, Slice))
    if isinstance(this, Mapping):
        hash_all(m, [index], site)
        key = m.key(index)
        if key in this.items:
            value = this.items[key][1]
            if this.default is None or is_filled_here(m, this, site):
                return value
            found = filled_since(m, this, index, value)
            return value if found is MISSING else found
        found = under_its_name(m, this, index)
        if found is not MISSING:
            return found
        found = any_of(m, this, index) if not is_filled_here(m, this, site) else MISSING
        if found is not MISSING:
            return found
        guess = unknown_key(m, this, index, site)
        if this.default is not None and (guess is MISSING or isinstance(guess, Opaque)):
            value = m.call(this.default, [], {}, site)
            this.items[key] = (index, value)
            return value
        if guess is MISSING:
            if not is_set_elsewhere(m, this, index):
                raise Raised("KeyError")
            guess = m.opaque("item")
            this.items[key] = (index, guess)
        if not this.exact and is_known(index) and isinstance(guess, Opaque):
            this.items[key] = (index, guess)  # a setting is the same wherever it is read
        return guess
    if isinstance(index, Slice):
        return sliced(m, this, index, site)
    if isinstance(index, (int, bool)):
        if -len(this.items) <= index < len(this.items):
            taken = from_end(m, this, index)
            if index < 0 and taken is this.items[index]:
                m.tails.append(Tail(this, (taken,), site, m.clock, m.loops))
            return one_of(m, this, taken, index, site)
        if this.exact and not m.widening:
            raise Raised("IndexError")
        # One behind those that are known: each place another one.
        if not this.items:
            return m.opaque("item")
        item = m.draw(this.items[-1], [], more=True, place=(m.key(this), index))
        return one_of(m, this, item, index, site)
    counted = counted_place(m, this, index)
    if counted is not None:
        return one_of(m, this, this.items[counted], index, site)
    if this.items:
        # An unknown index: the youngest element stands for any of them, but none of the places that None keeps.
        filled = [i for i in this.items if i is not None]
        if all(is_constant(i) for i in this.items):
            return m.fresh()
        item = m.draw(filled[-1], this.items, place=(m.key(this), m.key(index)))
        return one_of(m, this, item, index, site)
    return m.opaque("item")


def set_item(m: Core, this: Value, index: Value, value: Value, source: ast.expr | None, site: Site) -> None:
    """`this[index] = value`; `source` is the expression that is stored, if it is written there."""
    if isinstance(this, (Mapping, Sequence)):
        this.turn = modulus(index) or this.turn
    if isinstance(this, Mapping):
        hash_all(m, [index], site)
        rated(m, this, index, value, site)
        known = is_known(index)
        key = m.key(index)
        counted = None if known or key in this.items else counted_key(m, index, site)
        key = key if counted is None else counted
        fresh = key not in this.items
        if known:
            set_surely(m, this, index)
        if m.truncated_since(this.born) and (not known or (fresh and _goes_on(m, this, site))):
            this.exact = False
            if not known and isinstance(value, Sequence) and value.kind == "list" and not value.items:
                value.exact = False  # what is begun here for one of the keys, passes that are not executed fill
        if not (fresh or known or any(graph_in(value))):
            this.cut = m.clock
        this.items[key] = (index, value)
        m.store(this, value, source, site, "new key" if fresh and not _is_in_small_ring(index) else "key")
        return
    if not isinstance(this, Sequence):
        return
    if this.kind == "tuple":
        m.refuse(site, "assigns to an element of a tuple", "TypeError")
    if isinstance(index, Slice):
        items, exact = m.collect(value, site)
        _set_slice(m, this, index, items, exact, source, site)
        return
    if isinstance(index, int) and -len(this.items) <= index < len(this.items):
        _fill_place(m, this, index, value, source, site)
    elif this.exact and isinstance(index, int) and not m.widening:
        raise Raised("IndexError")
    elif this.room and _is_next(m, this, index):
        this.items.append(value)
        m.store(this, value, source, site, "new key")
    elif this.items and _is_for_numbers(this) and not (isinstance(index, Sym) and index.lo is not None):
        # One of the many places that the number stands for; others still hold it.
        this.items.append(value)
        m.store(this, value, source, site, "new key")
    elif this.items:
        # Of an unknown place, the youngest stands for it.
        counted = counted_place(m, this, index)
        _fill_place(m, this, -1 if counted is None else counted, value, source, site)


def _is_in_small_ring(index: Value) -> bool:
    """Whether it is one of a few keys, `latest[t % 3]`: soon all of them have been there."""
    every = modulus(index)
    return isinstance(every, tuple) and every[0] == "c" and is_little(every[1])


def _goes_on(m: Core, this: Mapping, site: Site) -> bool:
    """Whether passes that are not executed put keys of their own there, as the later ones do: `index[word] = n`."""
    if not any(p.index > 0 and not p.activation.exact and p.started > this.born for p in m.loops):
        return False
    node = site.node
    place = node.target if isinstance(node, ast.AugAssign) else node
    given = place.slice if isinstance(place, ast.Subscript) else written_at(site, 0)
    if given is None and isinstance(node, ast.AugAssign):
        given = node.value
    keys = [key for key in given.keys if key is not None] if isinstance(given, ast.Dict) else [given]
    return any(isinstance(n, ast.Name) for key in keys if key is not None for n in ast.walk(key))


def _fill_place(m: Core, this: Sequence, at: int, value: Value, source: ast.expr | None, site: Site) -> None:
    """Write an element; where None or a number has kept the place for it, the list holds more than before."""
    is_empty = is_constant(this.items[at])
    this.items[at] = value
    m.store(this, value, source, site, "new key" if is_empty else "key")


def _is_next(m: Core, this: Sequence, index: Value) -> bool:
    """Whether it is the first place behind those that are known, by its number or by what counts the passes."""
    if isinstance(index, Sym) and m.loops:
        index = index.lo
    return isinstance(index, int) and index == len(this.items)


def _is_for_numbers(this: Sequence) -> bool:
    """Whether a list was begun as many times a number (`[0] * size`)."""
    return this.kind == "list" and not this.exact and is_number(this.items[0])


def _set_slice(
    m: Core, this: Sequence, index: Slice, items: list[Value], exact: bool, source: ast.expr | None, site: Site
) -> None:
    bounds = (index.lower, index.upper, index.step)
    whole = index.lower is None and index.upper is None
    if not (this.exact and exact):
        without(m, this, index if exact and not items else Slice(None, None, None))
    if not (whole or this.exact) or not all(b is None or isinstance(b, int) for b in bounds):
        this.exact = False
        return
    try:
        this.items[slice(*bounds)] = items
    except ValueError as error:
        if exact:
            raise Raised("ValueError") from error
        this.exact = False
        return
    this.exact = exact
    for item in items:
        m.store(this, item, source, site, "extend")


def delete(m: Core, this: Value, index: Value) -> None:
    if isinstance(this, Mapping):
        if this.items.pop(m.key(index), None) is None and not is_known(index):
            this.dropped = m.clock
    elif isinstance(this, Sequence):
        this.dropped = m.clock
        if isinstance(index, Slice):
            delete_slice(m, this, index)
        elif isinstance(index, int) and -len(this.items) <= index < len(this.items):
            del this.items[index]


def contains(m: Core, this: Value, item: Value, site: Site) -> Value:
    """`value in this`, where it is known."""
    if isinstance(this, Mapping) or (isinstance(this, Sequence) and this.kind == "set"):
        hash_all(m, [item], site)
    elif not (isinstance(this, Sequence) and is_like_a_number(item)):
        m.tell_apart(item)
    if isinstance(this, Iterable) and this.name == "keys":
        items, exact = m.collect(this, site, 64)
        this = Sequence("list", items, 0, exact)
    if isinstance(this, Mapping):
        if m.key(item) in this.items:
            return True
        if this.exact and is_known(item) and all(is_known(key) for key, _ in this.items.values()):
            return False
        if this.exact and not this.items:
            return False
        return m.sym(("in", m.key(item), m.key(this), len(this.items)), "bool")
    if isinstance(this, (str, bytes)) and isinstance(item, (str, bytes)):
        try:
            return item in this  # type: ignore[operator]
        except TypeError:
            return m.fresh("bool")
    if isinstance(this, Sequence):
        key = m.key(item)
        if any(key_of(i) == key for i in this.items):
            return True
        compare_with(m, this.items, item, site)
        if this.exact and is_known(item) and all(is_known(i) for i in this.items):
            return False
        if not this.items and this.exact:
            return False
    if isinstance(this, Instance):
        raw = m.lookup(this, "__contains__", site)
        if raw is not MISSING and not isinstance(raw, Opaque):
            return m.call(raw, [item], {}, site)
        if ITEMS in this.attrs:
            return contains(m, this.attrs[ITEMS], item, site)
    return m.sym(("in", m.key(item), m.key(this)), "bool")
