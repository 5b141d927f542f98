"""Attributes that are None so far, and that somebody else sets: `user.logits = ...` in a loop over users.

So do classes that derive from that of the object, and methods that nobody has called yet. What nobody in view sets is
set out of view, or it would be there for nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.classes import methods_of
from autodetach.machine.core import Core
from autodetach.machine.counters import Restore, asked_for, own_attributes
from autodetach.machine.derived import is_added
from autodetach.machine.filled_later import set_in
from autodetach.machine.program_values import Instance
from autodetach.machine.reach import Reach
from autodetach.machine.spelling import is_none
from autodetach.machine.values import Opaque, Value


def presume_unset(m: Core, this: Value, entered: str, reach: Reach) -> list[Restore]:
    """What stands in them is not known where the entered method is called; by default, nothing does.

    Returns what gives back that which is as it was left.
    """
    if not isinstance(this, Instance):
        return []
    empty = [name for name, value in this.attrs.items() if value is None and isinstance(name, str)]
    return [_put(m, this, name) for name in _set_by_others(m, this, empty, entered, reach)] if empty else []


def _set_by_others(m: Core, this: Instance, names: list[str], entered: str, reach: Reach) -> Iterator[str]:
    """Those of some attributes that somebody else sets, and none of the methods that the entered one calls.

    What a method of the object sets has to be tested: others wait for that method, see `set_up` and `filled_later`.
    """
    sets: dict[str, set[str]] = {"asked": set(), "made": set(), "open": set()}
    asked, tested = asked_for(entered, reach), set[str]()
    for method in methods_of(this.cls):
        kind = "asked" if method.name in asked else "made" if method.name == "__init__" else "open"
        sets[kind].update(set_in(method.node))
        if kind == "asked":
            tested |= _tested_in(method.node)
    for name in names:
        if name in sets["asked"]:
            continue
        if name in sets["open"]:
            is_set = name in tested
        else:
            is_set = name not in sets["made"] or reach.is_set_on_others(name) or is_added(m.classes, this.cls, name)
        if is_set:
            yield name


def _put(m: Core, this: Instance, name: str) -> Restore:
    value: Opaque = m.opaque(name)
    m.oracle.presumed[m.key(value)] = m.key(None)
    this.attrs[name] = value

    def restore() -> None:
        if this.attrs.get(name) is value:
            this.attrs[name] = None

    return restore


@kept
def _tested_in(node: ast.AST) -> frozenset[str]:
    """The attributes of `self` that a method tests: `if self.x:`, `self.x is not None`."""
    names: set[str] = set()
    for inner in nodes_in(node):
        if isinstance(inner, (ast.If, ast.While, ast.IfExp)):
            names |= own_attributes([inner.test])
        elif isinstance(inner, ast.BoolOp):
            names |= own_attributes(inner.values)
        elif isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
            names |= own_attributes([inner.operand])
        elif isinstance(inner, ast.Compare) and is_none(inner.comparators[-1]):
            names |= own_attributes([inner.left])
    return frozenset(names)
