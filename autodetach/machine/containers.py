"""Lists, tuples, sets, deques and dicts: element by element as far as they are known."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator

from autodetach.machine import texts
from autodetach.machine.attribute_view import AttributeView
from autodetach.machine.core import MISSING, MOST_PASSES, Core, Raised
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import compare_in_order, compare_with, hash_all
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.tallies import ADDING, METHODS, added, is_tally
from autodetach.machine.unknown_keys import any_of, is_known, under_its_name, unknown_key
from autodetach.machine.values import (
    FIELD_OF_RECORD,
    External,
    Instance,
    Iterable,
    Mapping,
    Native,
    Opaque,
    Sequence,
    Slice,
    Sym,
    Tensor,
    Value,
    graph_in,
    is_constant,
    is_number,
    key_of,
)
from autodetach.machine.windows import of_this_window

LIST_METHODS = frozenset(
    "append extend insert remove pop clear index count sort reverse copy appendleft popleft extendleft rotate".split()
)
SET_METHODS = frozenset(
    "add remove discard pop clear union intersection difference symmetric_difference update copy issubset issuperset "
    "intersection_update difference_update isdisjoint".split()
)
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
    if not has_method(this, name) and not name.startswith("__"):
        m.refuse(site, f"a {this.kind if isinstance(this, Sequence) else 'dict'} has no attribute `{name}`")
    if isinstance(this, Mapping):
        return _dict_method(m, this, name, args, kwargs, site)
    if name == "sort":
        compare_in_order(m, this.items, kwargs.get("key"), site)
    return _list_method(m, this, name, args, site)


# ---- lists


def _element(site: Site, index: int) -> ast.expr | None:
    """The expression of a call's positional argument."""
    node = site.node
    if isinstance(node, ast.Call) and index < len(node.args) and not isinstance(node.args[index], ast.Starred):
        return node.args[index]
    return None


def put(
    m: Core, this: Sequence, value: Value, element: ast.expr | None, site: Site, how: str, at: int | None = None
) -> None:
    this.filled = None
    if at is None:
        this.items.append(value)
    else:
        this.items.insert(at, value)
    if m.truncated_since(this.born):
        this.exact = False
    if isinstance(this.maxlen, int) and len(this.items) > this.maxlen:
        this.items.pop(-1 if at == 0 else 0)
    m.store(this, value, element, site, how)


def _list_method(m: Core, this: Sequence, name: str, args: list[Value], site: Site) -> Value:
    if name in ("append", "add") and args:
        if name == "add":
            hash_all(m, [*this.items[-1:], args[0]], site)
        if name == "append" or args[0] not in this.items:
            put(m, this, args[0], _element(site, 0), site, "append")
        return None
    if name == "appendleft" and args:
        put(m, this, args[0], _element(site, 0), site, "append", 0)
        return None
    if name == "insert" and len(args) > 1:
        if this.exact and isinstance(this.maxlen, int) and len(this.items) >= this.maxlen and not m.widening:
            raise Raised("IndexError")
        put(m, this, args[1], _element(site, 1), site, "append", args[0] if isinstance(args[0], int) else None)
        return None
    if name in ("extend", "update", "extendleft") and args:
        for i, given in enumerate(args if this.kind == "set" else args[:1]):
            _extend(m, this, given, _element(site, i), site, 0 if name == "extendleft" else None)
        return None
    if name in ("pop", "popleft"):
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
        return _united(m, this, args, [_element(site, i) for i in range(len(args))], site)
    if name in ("intersection", "difference", "symmetric_difference"):
        return Sequence("set", list(this.items), m.clock, False)
    if name == "__len__":
        return length(m, this)
    if name == "__getitem__" and args:
        return subscript(m, this, args[0], site)
    return m.fresh()


def _extend(m: Core, this: Sequence, value: Value, element: ast.expr | None, site: Site, at: int | None = None) -> None:
    items, exact = m.collect(value, site)
    elements = element.elts if isinstance(element, (ast.List, ast.Tuple, ast.Set)) else []
    inner = elements if len(elements) == len(items) else None
    for i, item in enumerate(items):
        if this.kind == "set" and item in this.items:
            continue
        source, how = (element, "extend") if inner is None else (inner[i], "append")
        put(m, this, item, source, site, how, at)
    if not exact:
        this.exact = False


def copy_of(m: Core, this: Sequence, kind: str) -> Sequence:
    """`list(this)`, `this.copy()`."""
    made = Sequence(kind, list(this.items), m.clock, this.exact)
    made.copied = this
    return made


def _united(m: Core, this: Sequence, others: list[Value], sources: list[ast.expr | None], site: Site) -> Sequence:
    """`this | other`, `this.union(*others)`."""
    made = copy_of(m, this, "set")
    _continue(m, this, made, site)
    for other, source in zip(others, sources, strict=True):
        _extend(m, made, other, source, site)
    return made


def length(m: Core, this: Value) -> Value:
    if isinstance(this, (str, bytes)):
        return len(this)
    if isinstance(this, Sequence) and this.filled is not None:
        return m.sym(("len", this.filled.key), "number", lo=0)
    if this.exact:
        return len(this.items)
    # No counter of a loop, which has a value once: what is emptied is filled again.
    return m.sym(("len", m.serial()), "number", lo=len(this.items))


# ---- dicts


def _dict_method(m: Core, this: Mapping, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    if name in ("get", "setdefault", "pop") and args:
        key = m.key(args[0])
        fallback = args[1] if len(args) > 1 else None
        if key in this.items:
            value = this.items[key][1]
            if name == "pop":
                del this.items[key]
            return value
        counted = _counted_key(m, args[0], site) if name == "setdefault" and not is_known(args[0]) else None
        if counted is not None:
            if counted not in this.items:
                set_item(m, this, args[0], fallback, _element(site, 1), site)
            return this.items[counted][1]
        guess = under_its_name(m, this, args[0])
        if guess is MISSING and name != "setdefault":
            guess = any_of(m, this, args[0], taken_out=name == "pop")
        if guess is MISSING:
            guess = unknown_key(m, this, args[0], site)
        if guess is not MISSING:
            return guess
        if name == "setdefault":
            set_item(m, this, args[0], fallback, _element(site, 1), site)
        return fallback
    if name in ADDING and is_tally(this):
        for k, v in added(m, this, ADDING[name], args, kwargs, site):
            set_item(m, this, k, v, _element(site, 0), site)
        return None
    if name == "update":
        for source in args:
            if isinstance(source, Mapping):
                for k, v in source.items.values():
                    set_item(m, this, k, v, _element(site, 0), site)
                this.exact = this.exact and source.exact
            else:
                _update_by_pairs(m, this, source, _element(site, 0), site)
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
        k, v = this.items.pop(next(reversed(this.items)))
        return Sequence("tuple", [k, v], m.clock)
    if name == "__getitem__" and args:
        return subscript(m, this, args[0], site)
    if name == "__setitem__" and len(args) == 2:
        return set_item(m, this, args[0], args[1], _element(site, 1), site)
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


# ---- subscripts


def subscript(m: Core, this: Value, index: Value, site: Site) -> Value:
    if isinstance(this, (str, bytes)):
        return texts.subscript(m, this, index)
    if isinstance(this, Mapping):
        key = m.key(index)
        if key in this.items:
            return this.items[key][1]
        found = under_its_name(m, this, index)
        if found is not MISSING:
            return found
        found = any_of(m, this, index) if this.default is None else MISSING
        if found is not MISSING:
            return found
        guess = unknown_key(m, this, index, site)
        if this.default is not None and (guess is MISSING or isinstance(guess, Opaque)):
            value = m.call(this.default, [], {}, site)
            this.items[key] = (index, value)
            return value
        if guess is MISSING:
            raise Raised("KeyError")
        if not this.exact and is_known(index) and isinstance(guess, Opaque):
            this.items[key] = (index, guess)  # a setting is the same wherever it is read
        return guess
    if isinstance(index, Slice):
        return _sliced(m, this, index, site)
    if isinstance(index, (int, bool)):
        if -len(this.items) <= index < len(this.items):
            return this.items[index]
        if this.exact and not m.widening:
            raise Raised("IndexError")
        # One behind those that are known: each place another one.
        return m.draw(this.items[-1], [], more=True, place=(m.key(this), index)) if this.items else m.opaque("item")
    counted = _counted(m, this, index)
    if counted is not None:
        return this.items[counted]
    if this.items:
        # An unknown index: the youngest element stands for any of them, but none of the places that None keeps.
        filled = [i for i in this.items if i is not None]
        if all(is_constant(i) for i in this.items):
            return m.fresh()
        return m.draw(filled[-1], this.items, place=(m.key(this), m.key(index)))
    return m.opaque("item")


def _counted(m: Core, this: Sequence, index: Value) -> int | None:
    """The place that a counter of a loop means, whose passes go on: each another element, as long as there are some."""
    if not this.items or not isinstance(index, Sym) or index.lo is None or not m.loops:
        return None
    return min(max(index.lo, 0), len(this.items) - 1)


def _counted_key(m: Core, key: Value, site: Site) -> Hashable | None:
    """What stands for a key that only loops count, as in `kept[f"layer{i}"]`: when these begin anew, so does it."""
    counted = _counted_where_written(m, site)
    if counted is None:
        name = m.key(key)
        named = _by_counts(m, name)
        counted = None if named == name else named
    return counted


def _by_counts(m: Core, key: Hashable) -> Hashable:
    """A key with each number of a range in the place of what counts there, in whatever function it was made of it."""
    if not isinstance(key, tuple):
        return key
    known = m.counts.get(key) or m.counts.get(("s", key))
    return known if known is not None else tuple(_by_counts(m, part) for part in key)


def _counted_where_written(m: Core, site: Site) -> Hashable | None:
    node = site.node
    is_method = isinstance(node, ast.Call) and last_word(node.func) in ("setdefault", "__setitem__")
    index = node.slice if isinstance(node, ast.Subscript) else _element(site, 0) if is_method else None
    if index is None:
        return None
    asked = {n.id for n in ast.walk(index) if isinstance(n, ast.Name)}
    if any(isinstance(n, (ast.Attribute, ast.Call)) for n in ast.walk(index)):
        return None
    found: list[int] = []
    for current in reversed(m.loops):
        loop = current.activation.node
        if not asked or not isinstance(loop, ast.For):
            break
        found.append(current.index)
        asked.discard(counter_of(loop))
    return None if asked or not found else ("counted", site.node, *found)


def counter_of(loop: ast.For) -> str:
    """The name that counts the passes of a loop over `range(n)` or `enumerate(items)`; empty where none does."""
    callee = spelled(loop.iter.func) if isinstance(loop.iter, ast.Call) else ""
    target = loop.target
    if callee == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
    return target.id if callee in ("range", "enumerate") and isinstance(target, ast.Name) else ""


def _sliced(m: Core, this: Sequence, index: Slice, site: Site) -> Value:
    parts = (index.lower, index.upper, index.step)
    if all(p is None or isinstance(p, int) for p in parts) and (this.exact or index.lower is None or index.lower < 0):
        try:
            items = this.items[slice(*parts)]
        except ValueError:
            items = list(this.items)
        if not items and not this.exact and isinstance(index.upper, int) and index.upper < 0:
            items = list(this.items)  # those that are known may all be among the first of many
        window = of_this_window(m, items, site)
        return Sequence(this.kind, window, m.clock, this.exact and len(window) == len(items))
    # Of those that are known, the later ones stand for what is behind the first few.
    step = index.step if isinstance(index.step, int) and index.step > 0 else None
    is_open = isinstance(index.lower, int) and index.upper is None and index.step is step
    behind = this.items[index.lower :: step] if is_open else []
    return Sequence(this.kind, of_this_window(m, behind or list(this.items), site), m.clock, False)


def set_item(m: Core, this: Value, index: Value, value: Value, source: ast.expr | None, site: Site) -> None:
    if isinstance(this, Mapping):
        hash_all(m, [index], site)
        known = is_known(index)
        key = m.key(index)
        counted = None if known or key in this.items else _counted_key(m, index, site)
        key = key if counted is None else counted
        fresh = key not in this.items
        if m.truncated_since(this.born) and (not known or (fresh and _goes_on(m, this, site))):
            this.exact = False
        if not (fresh or known or any(graph_in(value))):
            this.cut = m.clock
        this.items[key] = (index, value)
        m.store(this, value, source, site, "new key" if fresh else "key")
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
    elif this.items and _is_for_numbers(this) and not (isinstance(index, Sym) and index.lo is not None):
        # One of the many places that the number stands for; others still hold it.
        this.items.append(value)
        m.store(this, value, source, site, "new key")
    elif this.items:
        # Of an unknown place, the youngest stands for it.
        counted = _counted(m, this, index)
        _fill_place(m, this, -1 if counted is None else counted, value, source, site)


def _goes_on(m: Core, this: Mapping, site: Site) -> bool:
    """Whether passes that are not executed put keys of their own there, as the later ones do: `index[word] = n`."""
    if not any(p.index > 0 and not p.activation.exact and p.started > this.born for p in m.loops):
        return False
    node = site.node
    place = node.target if isinstance(node, ast.AugAssign) else node
    given = place.slice if isinstance(place, ast.Subscript) else _element(site, 0)
    if given is None and isinstance(node, ast.AugAssign):
        given = node.value
    keys = [key for key in given.keys if key is not None] if isinstance(given, ast.Dict) else [given]
    return any(isinstance(n, ast.Name) for key in keys if key is not None for n in ast.walk(key))


def _fill_place(m: Core, this: Sequence, at: int, value: Value, source: ast.expr | None, site: Site) -> None:
    """Write an element; where None has kept the place for it, the list holds more than before."""
    is_empty = this.items[at] is None
    this.items[at] = value
    m.store(this, value, source, site, "new key" if is_empty else "key")


def _is_for_numbers(this: Sequence) -> bool:
    """Whether a list was begun as many times a number (`[0] * size`)."""
    return this.kind == "list" and not this.exact and is_number(this.items[0])


def _set_slice(
    m: Core, this: Sequence, index: Slice, items: list[Value], exact: bool, source: ast.expr | None, site: Site
) -> None:
    bounds = (index.lower, index.upper, index.step)
    whole = index.lower is None and index.upper is None
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
        this.items.pop(m.key(index), None)
    elif isinstance(this, Sequence):
        this.dropped = m.clock
        if isinstance(index, Slice):
            bounds = (index.lower, index.upper, index.step)
            if index.lower is None and index.upper is None:
                this.items.clear()
                this.exact = True
            elif all(b is None or isinstance(b, int) for b in bounds) and (this.exact or index.lower is None):
                del this.items[slice(*bounds)]
        elif isinstance(index, int) and -len(this.items) <= index < len(this.items):
            del this.items[index]


def contains(m: Core, this: Value, item: Value, site: Site) -> Value:
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
        if "#items" in this.attrs:
            return contains(m, this.attrs["#items"], item, site)
    return m.sym(("in", m.key(item), m.key(this)), "bool")


def equal(left: Sequence, right: Sequence) -> bool | None:
    if len(left.items) != len(right.items):
        return False
    for a, b in zip(left.items, right.items, strict=True):
        if not (is_constant(a) and is_constant(b)):
            return None
        if a != b:
            return False
    return True


def items(m: Core, this: Value) -> Iterable:
    if isinstance(this, (str, bytes)):
        whole = list(this)
        return Iterable(lambda exact: iter(whole), len(whole))
    if isinstance(this, Mapping):
        return Iterable(
            lambda exact: iter([k for k, _ in list(this.items.values())]), len(this.items) if this.exact else None
        )

    def walk(exact: bool) -> Iterator[Value]:
        i, since = 0, m.clock
        try:
            while i < len(this.items):  # the list may grow while it is walked
                yield this.items[i]
                i += 1
        except GeneratorExit:  # a loop is cut short after some of them, which stand for all
            if not exact:
                m.note_drawn(this.items[: i + 1], this.items[i + 1 :], in_order=True, since=since)
            raise
        if not exact and not this.exact:
            while this.items and i < MOST_PASSES:
                yield m.draw(this.items[-1], this.items, in_order=True)
                i += 1

    listed = this.exact and (_are_leaves(this.items) or _are_fields(this.items))
    short = this.exact or _are_parts(this.items)
    return Iterable(walk, len(this.items) if this.exact else None, short=short, listed=listed)


def _are_leaves(values: list[Value]) -> bool:
    """Whether these are the parameters of a network, told by the first and the last one."""
    return bool(values) and all(isinstance(v, Tensor) and v.leaf_node is not None for v in (values[0], values[-1]))


def _are_fields(values: list[Value]) -> bool:
    """Whether these are what `dataclasses.fields` gives: a record has as many as its class says."""
    first = values[0] if values else None
    return isinstance(first, Instance) and isinstance(first.cls, External) and first.cls.path == FIELD_OF_RECORD


def _are_parts(values: list[Value]) -> bool:
    """Whether these are the parts of one tensor with history: its graph is there before the first of them is taken."""
    nodes = {v.node if isinstance(v, Tensor) else None for v in values}
    return len(nodes) == 1 and None not in nodes


# ---- operators


def binary(m: Core, op: str, left: Value, right: Value, site: Site) -> Value:
    if op == "Add" and isinstance(left, Sequence) and isinstance(right, Sequence):
        result = Sequence(left.kind, [*left.items, *right.items], right.born, left.exact and right.exact)
        _continue(m, left, result, site)
        if isinstance(site.node, (ast.BinOp, ast.AugAssign)):
            source = site.node.right if isinstance(site.node, ast.BinOp) else site.node.value
            _store_all(m, result, right, source, site)
        return result
    if op == "Add" and isinstance(left, Sequence) and isinstance(right, (Opaque, Iterable, Sym)):
        return Sequence(left.kind, list(left.items), left.born, False)
    if op == "Mult" and isinstance(left, Sequence) and isinstance(right, int):
        if 0 <= right * len(left.items) <= 64:
            return Sequence(left.kind, left.items * right, m.clock, left.exact)
        return Sequence(left.kind, list(left.items), m.clock, False)
    if op == "Mult" and isinstance(left, Sequence):
        return Sequence(left.kind, list(left.items), m.clock, False)
    if op == "Mult" and isinstance(right, Sequence):
        return binary(m, op, right, left, site)
    if op == "BitOr" and isinstance(left, Mapping) and isinstance(right, Mapping):
        merged = Mapping(m.clock, left.exact and right.exact)
        merged.items.update(left.items)
        _continue(m, left, merged, site)
        for key, value in right.items.values():
            set_item(m, merged, key, value, _right_of(site), site)
        return merged
    if op in ("Add", "Sub") and is_tally(left) and is_tally(right):
        summed = Mapping(m.clock, left.exact)
        summed.default = left.default
        summed.items.update(left.items)
        summed.items.update((m.key(k), (k, v)) for k, v in added(m, summed, op, [right], {}, site))
        return summed
    if op == "BitOr" and isinstance(left, Sequence) and left.kind == "set" and isinstance(right, Sequence):
        return _united(m, left, [right], [_right_of(site)], site)
    if isinstance(left, Sequence) and left.kind == "set":
        return Sequence("set", list(left.items), m.clock, False)
    if isinstance(left, str) and op == "Mod":
        return m.fresh("str")
    if isinstance(left, Sequence) and (right is None or is_number(right)) and op in ("Add", "Sub", "Div"):
        m.refuse(site, "adds a number to a list", "TypeError")
    return MISSING


def _continue(m: Core, old: Sequence | Mapping, new: Sequence | Mapping, site: Site) -> None:
    """`new` goes on with what `old` held, unless it only stands among the arguments of a call (`sum(xs + [x])`)."""
    statement = m.trail[-1][0] if m.trail else None
    value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)) else None
    if value is not None and any(n is site.node for n in _outside_of_calls(value)):
        adopt(m, old, new)


def _outside_of_calls(value: ast.expr) -> Iterator[ast.AST]:
    """The expressions in another one that are no argument of a call, nor a part of one."""
    stack: list[ast.AST] = [value]
    while stack:
        node = stack.pop()
        yield node
        stack.extend([node.func] if isinstance(node, ast.Call) else ast.iter_child_nodes(node))


def adopt(m: Core, old: Sequence | Mapping, new: Sequence | Mapping) -> None:
    """`new` holds what `old` held (`xs = xs + [x]`): what was stored there is stored here, and it is as old."""
    olds = (old,) if old.copied is None else (old, old.copied)
    new.born = min(new.born, *(each.born for each in olds))
    for event in m.stored:
        if event.container in olds:
            event.container = new


def _right_of(site: Site) -> ast.expr | None:
    """The right operand of an operator."""
    node = site.node
    return node.right if isinstance(node, ast.BinOp) else node.value if isinstance(node, ast.AugAssign) else None


def _store_all(m: Core, result: Sequence, added: Sequence, source: ast.expr, site: Site) -> None:
    nodes = source.elts if isinstance(source, (ast.List, ast.Tuple)) and len(source.elts) == len(added.items) else None
    for i, item in enumerate(added.items):
        m.store(
            result, item, nodes[i] if nodes is not None else source, site, "append" if nodes is not None else "extend"
        )


def augmented(m: Core, op: str, old: Value, right: Value, site: Site) -> Value:
    source = site.node.value if isinstance(site.node, ast.AugAssign) else None
    if op == "Add" and isinstance(old, Sequence) and old.kind in ("list", "deque"):
        _extend(m, old, right, source, site)
        return old
    if op == "BitOr" and isinstance(old, Sequence) and old.kind == "set":
        _extend(m, old, right, source, site)
        return old
    if op in ("Add", "Sub") and is_tally(old) and is_tally(right):
        for k, v in added(m, old, op, [right], {}, site):
            set_item(m, old, k, v, source, site)
        return old
    if op == "BitOr" and isinstance(old, Mapping) and isinstance(right, Mapping):
        for k, v in right.items.values():
            set_item(m, old, k, v, source, site)
        old.exact = old.exact and right.exact
        return old
    return MISSING
