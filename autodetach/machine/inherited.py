"""Inherited methods that run what a class overrides or adds: `train` of a base class calls `self.training_step(...)`.

The class of which objects are made may be named in a configuration; its base only knows a method that raises, or none.
"""

from __future__ import annotations

from collections.abc import Collection

from autodetach.machine.classes import linear_order
from autodetach.machine.counters import asked_for
from autodetach.machine.program_values import Class, Function
from autodetach.machine.reach import Reach

CALLS = frozenset({"backward", "manual_backward"})
"""Without them, what methods do in a loop is rarely training; bases are many, and to enter them all costs too much."""


def inherited_runners(cls: Class, own: Collection[str], reach: Reach) -> list[tuple[str, Function]]:
    """The methods of bases in view that may train, and that call some of the class's `own` ones."""
    found: dict[str, Function] = {}
    known = set(cls.names)
    for base in linear_order(cls)[1:]:
        if not isinstance(base, Class):
            continue
        for name, value in base.names.items():
            is_open = isinstance(value, Function) and name not in known and not name.startswith("__")
            if is_open and own and _may_train(name, reach) and _trains_by(asked_for(name, reach), own):
                assert isinstance(value, Function)
                found[name] = value
        known |= base.names.keys()
    return list(found.items())


def _may_train(name: str, reach: Reach) -> bool:
    """Whether a method has a loop, or differentiates itself."""
    return reach.loops(name) or not reach.asked_by(name).isdisjoint(CALLS)


def _trains_by(asked: frozenset[str], own: Collection[str]) -> bool:
    return not asked.isdisjoint(CALLS) and not asked.isdisjoint(own)
