"""Attributes that other methods set, and are None so far: `self.criterion = None`, until somebody calls `build()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.classes import methods_of
from autodetach.machine.core import Core
from autodetach.machine.counters import Restore, asked_for, instances_in, own_attributes
from autodetach.machine.program_values import Instance
from autodetach.machine.reach import Reach
from autodetach.machine.spelling import is_none
from autodetach.machine.state import MISSING
from autodetach.machine.values import Opaque, Value


def fill(m: Core, this: Value, entered: str, reach: Reach) -> list[Restore]:
    """Something stands in them that nobody knows, if the entered method could not do without.

    Returns what gives back that which is as it was left.
    """
    if not isinstance(this, Instance):
        return []
    asked = asked_for(entered, reach)
    return [_put(m, holder, name) for holder in instances_in(this) for name in _set_by_others(holder, asked)]


def _put(m: Core, holder: Instance, name: str) -> Restore:
    before = holder.attrs.get(name, MISSING)
    value: Opaque = m.opaque(name)
    holder.attrs[name] = value

    def restore() -> None:
        if holder.attrs.get(name) is not value:
            return
        if before is MISSING:
            del holder.attrs[name]
        else:
            holder.attrs[name] = before

    return restore


def _set_by_others(holder: Instance, asked: frozenset[str]) -> Iterator[str]:
    """The attributes that are None or not there, and that another method sets than those that are to be called.

    It may have been called without what somebody else would have given.
    """
    found: dict[str, None] = {}
    for method in methods_of(holder.cls):
        if method.name not in asked and method.name != "__init__":
            found |= dict.fromkeys(set_in(method.node))
    yield from (name for name in found if holder.attrs.get(name) is None)


@kept
def set_in(node: ast.AST) -> tuple[str, ...]:
    """The attributes of `self` to which a method assigns something, in the order of their names."""
    names: set[str] = set()
    for inner in nodes_in(node):
        if isinstance(inner, ast.Assign) and not is_none(inner.value):
            names |= own_attributes(part for target in inner.targets for part in nodes_in(target))
    return tuple(sorted(names))
