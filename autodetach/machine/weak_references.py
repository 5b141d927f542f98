"""Weak references: what they refer to while others hold it, and containers that hold nothing by themselves.

https://docs.python.org/3/library/weakref.html
"""

from __future__ import annotations

from autodetach.machine.container_builtins import make_dict
from autodetach.machine.core import Core, Handler
from autodetach.machine.graph import Site
from autodetach.machine.number_readers import wanted
from autodetach.machine.program_values import Instance, Native
from autodetach.machine.reachable import reachable
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value


def _may_be_gone(value: Value) -> bool:
    """Whether nobody knows if others still hold a value: a tensor that was computed, or something unknown."""
    return isinstance(value, Opaque) or (isinstance(value, Tensor) and not value.parameter)


def _ref(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`ref(x)`, and `WeakMethod(x.update)`: a call of it gives what it refers to."""
    target = args[0] if args else None
    wanted(m, args[:1], site, "weakref")  # numbers have none
    m.tell_apart(target)
    if _may_be_gone(target):
        return Native("ref", lambda a, k, s: m.opaque("referent"))
    return Native("ref", lambda a, k, s: target, target)


def _proxy(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    wanted(m, args[:1], site, "weakref")
    return m.opaque("proxy") if not args or _may_be_gone(args[0]) else args[0]


class _Weak(dict):  # type: ignore[type-arg]
    """The entries of a weak dict: what is in it may be fewer than was put there."""

    def __init__(self, m: Core, this: Mapping, site: Site) -> None:
        super().__init__()
        self._machine = m
        self._this = this
        self._site = site

    def update(self, *others: dict[object, tuple[Value, Value]]) -> None:  # type: ignore[override]
        for other in others:
            for key, pair in other.items():
                self[key] = pair


class _ByKeys(_Weak):
    """Those of a `WeakKeyDictionary`: no longer what stands under a key that an earlier pass has made, or nobody holds.

    `tok = Token()` in every pass lets go of the one before.
    """

    weak_keys = True

    def __init__(self, m: Core, this: Mapping, site: Site) -> None:
        super().__init__(m, this, site)
        self._since: dict[object, int] = {}

    def __setitem__(self, key: object, pair: tuple[Value, Value]) -> None:
        self._forget([old for old, since in self._since.items() if self._is_over(since)])
        keys = {old: self[old][0] for old in self._since if old != key and old in self}
        if any(isinstance(held, Instance) for held in keys.values()):
            alive = reachable(self._machine)
            self._forget([old for old, held in keys.items() if isinstance(held, Instance) and id(held) not in alive])
        super().__setitem__(key, pair)
        holder = pair[0]
        wanted(self._machine, [holder], self._site, "weakref")
        self._since[key] = (
            self._machine.clock if _may_be_gone(holder) else holder.born if isinstance(holder, Instance) else 0
        )

    def _forget(self, keys: list[object]) -> None:
        for key in keys:
            self.pop(key, None)
            del self._since[key]
            self._this.exact = False

    def _is_over(self, since: int) -> bool:
        """Whether a pass has ended since then, of a loop that has not."""
        return any(p.activation.started < since < p.started for p in self._machine.loops)


class _ByValues(_Weak):
    """Those of a `WeakValueDictionary`: what was there before all loops is there for certain, and nothing else."""

    def __setitem__(self, key: object, pair: tuple[Value, Value]) -> None:
        wanted(self._machine, [pair[1]], self._site, "weakref")
        if _is_lasting(self._machine, pair[1]):
            super().__setitem__(key, pair)
        else:
            self._this.exact = False
            self.pop(key, None)


class _Members(list):  # type: ignore[type-arg]
    """The elements of a `WeakSet`."""

    def __init__(self, m: Core, items: list[Value], site: Site) -> None:
        super().__init__(item for item in items if _is_lasting(m, item))
        self._machine = m
        self._site = site
        wanted(m, items, site, "weakref")

    def append(self, item: Value) -> None:
        wanted(self._machine, [item], self._site, "weakref")
        if _is_lasting(self._machine, item):
            super().append(item)


def _is_lasting(m: Core, value: Value) -> bool:
    """Whether a value was there before all loops, so that something holds it."""
    if _may_be_gone(value):
        return False
    return not (isinstance(value, Instance) and m.loops and value.born > m.loops[0].activation.started)


def _dict_of(kind: type[_Weak]) -> Handler:
    def make(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        given = make_dict(m, args, kwargs, site)
        made = Mapping(m.clock, given.exact)
        made.items = kind(m, made, site)
        made.items.update(given.items)
        return made

    return make


def _set(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    items = m.collect(args[0], site)[0] if args else []
    return Sequence("set", _Members(m, items, site), m.clock, exact=False)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("weakref.ref", "weakref.ReferenceType", "weakref.WeakMethod"), _ref),
    "weakref.proxy": _proxy, "weakref.WeakSet": _set, "weakref.WeakValueDictionary": _dict_of(_ByValues),
    **dict.fromkeys(
        (
            "weakref.WeakKeyDictionary", "torch.utils.weak.WeakIdKeyDictionary",
            "torch.utils.weak.WeakTensorKeyDictionary",
        ),
        _dict_of(_ByKeys),
    ),
}  # fmt: skip
