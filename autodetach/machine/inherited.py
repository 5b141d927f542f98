"""Inherited methods that run what a class overrides: `train` of a base class, which calls `self.training_step(...)`.

The class of which objects are made may be named in a configuration; its base only knows a method that raises.
"""

from __future__ import annotations

from collections.abc import Collection

from autodetach.machine.classes import linear_order
from autodetach.machine.counters import asked_for
from autodetach.machine.reach import Reach
from autodetach.machine.values import Class, Function

CALLS = frozenset({"backward", "manual_backward"})
"""Without them, what methods do in a loop is rarely training; bases are many, and to enter them all costs too much."""


def inherited_runners(cls: Class, overriding: Collection[str], reach: Reach) -> list[tuple[str, Function]]:
    """The methods of bases in view that train in a loop, and that call some of the `overriding` ones of the class."""
    found: dict[str, Function] = {}
    known = set(cls.names)
    for base in linear_order(cls)[1:]:
        if not isinstance(base, Class):
            continue
        overridden = {name for name in overriding if _is_defined_from(base, name)}
        for name, value in base.names.items():
            is_open = isinstance(value, Function) and name not in known and not name.startswith("__")
            if is_open and overridden and reach.loops(name) and _trains_by(asked_for(name, reach), overridden):
                assert isinstance(value, Function)
                found[name] = value
        known |= base.names.keys()
    return list(found.items())


def _trains_by(asked: frozenset[str], overridden: Collection[str]) -> bool:
    return not asked.isdisjoint(CALLS) and not asked.isdisjoint(overridden)


def _is_defined_from(cls: Class, name: str) -> bool:
    return any(isinstance(one, Class) and name in one.names for one in linear_order(cls))
