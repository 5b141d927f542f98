"""The attributes and methods of lists, tuples, sets, deques and dicts."""

from __future__ import annotations

import math

from autodetach.container_methods import FILLING
from autodetach.machine import texts
from autodetach.machine.core import Core
from autodetach.machine.dict_methods import dict_method
from autodetach.machine.graph import Site
from autodetach.machine.list_methods import list_method
from autodetach.machine.ordering import in_order
from autodetach.machine.program_values import Native
from autodetach.machine.state import MISSING
from autodetach.machine.tallies import METHODS, is_tally
from autodetach.machine.values import Mapping, Sequence, Value

LIST_METHODS = frozenset(
    "append extend insert remove pop clear index count sort reverse copy appendleft popleft extendleft rotate".split()
)
SET_METHODS = frozenset(
    "add remove discard pop clear union intersection difference symmetric_difference update copy issubset issuperset "
    "intersection_update difference_update isdisjoint".split()
)
PICKING = frozenset({"get", "setdefault"})
"""What gives one element of a container."""
DICT_METHODS = frozenset(
    "get setdefault update pop popitem clear items keys values copy move_to_end most_common fromkeys".split()
)


def has_method(this: Value, name: str) -> bool:
    """Whether a container has a method of this name."""
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
    """Read an attribute of a container; MISSING where it has none of that name."""
    if isinstance(this, Sequence):
        if name in this.attrs:
            return this.attrs[name]
        if name == "maxlen" and this.kind == "deque":
            return this.maxlen
    if name.startswith("__") or has_method(this, name):
        return Native(name, lambda args, kwargs, site: method(m, this, name, args, kwargs, site), this)
    return MISSING


def method(m: Core, this: Value, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """Call a method of a container, a text or bytes. Raises Raised where it has no such method."""
    if isinstance(this, (str, bytes)):
        return texts.method(m, this, name, args, kwargs, site)
    if isinstance(this, Sequence) and name in this.attrs:
        return m.call(this.attrs[name], args, kwargs, site)
    if name == "numel" and isinstance(this, Sequence) and this.kind == "tuple":
        return _elements_of_shape(m, this)
    if not has_method(this, name) and not name.startswith("__"):
        m.refuse(site, f"a {this.kind if isinstance(this, Sequence) else 'dict'} has no attribute `{name}`")
    if name not in FILLING:
        m.note_read(this, whole=name not in PICKING)
    if isinstance(this, Mapping):
        return dict_method(m, this, name, args, kwargs, site)
    if name == "sort":
        this.items[:] = in_order(m, this.items, kwargs, site)
    return list_method(m, this, name, args, site)


def _elements_of_shape(m: Core, this: Sequence) -> Value:
    """How many elements a tensor of this shape has: no other tuple is asked."""
    sizes = [size for size in this.items if isinstance(size, int)]
    if this.exact and len(sizes) == len(this.items):
        return math.prod(sizes)
    return m.sym(("numel", m.key(this)), "number", lo=1)
