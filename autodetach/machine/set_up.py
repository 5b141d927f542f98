"""Set-up methods that nobody in view calls: `build()`, `init_optimizers()`, called before what needs what they make.

They ask for nothing, and make no history: what a method computes of data is made anew for each pass of its callers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.classes import linear_order
from autodetach.machine.counters import asked_for, own_attributes
from autodetach.machine.filled_later import set_in
from autodetach.machine.graph import Site
from autodetach.machine.held import graph_in
from autodetach.machine.interpreter import Machine
from autodetach.machine.program_values import Class, External, Function, Instance
from autodetach.machine.reach import Reach
from autodetach.machine.state import MISSING, Raised
from autodetach.machine.values import Sequence, Value


def set_up(machine: Machine, this: Value, entered: Iterable[str], reach: Reach, *, empty: bool = False) -> list[str]:
    """Call the methods that make what the entered ones read, and what the constructor has not made.

    `entered` are the names of the methods that are called after that. With `empty`, what is None has not been made; it
    may be meant to be, as a state before the first pass. Returns the qualified names of those called here, which others
    may call as well.
    """
    if not isinstance(this, Instance):
        return []
    asked, read = _asked_and_read(this, entered, reach)
    called: list[str] = []
    for method in _methods(this.cls):
        is_open = not (method.called or method.name in asked or _asks(method.node.args))
        made = read.intersection(set_in(method.node)) if is_open else ()
        if any(_is_missing(machine, this, name, empty) for name in made):
            called += [method.qualname] if _call(machine, method, this) else []
    return called


def lacks(machine: Machine, this: Value, entered: Iterable[str], reach: Reach) -> bool:
    """Whether the entered methods read something that has not been made, or is None."""
    if not isinstance(this, Instance):
        return False
    _, read = _asked_and_read(this, entered, reach)
    return any(_is_missing(machine, this, name, True) for name in read)


def _asked_and_read(this: Instance, entered: Iterable[str], reach: Reach) -> tuple[frozenset[str], frozenset[str]]:
    """The names of the methods that are called, and of the attributes that they read."""
    asked = frozenset[str]().union(*(asked_for(name, reach) for name in entered))
    read = (_read_in(method.node) for method in _methods(this.cls) if method.name in asked)
    return asked, frozenset[str]().union(*read)


def _is_missing(machine: Machine, this: Instance, name: str, empty: bool) -> bool:
    """Whether an attribute has not been made, by the class neither."""
    value = this.attrs.get(name, MISSING)
    if value is MISSING and isinstance(this.cls, Class):
        value = machine.class_attribute(this.cls, name)
    return value is MISSING or (empty and value is None)


def _asks(spec: ast.arguments) -> bool:
    """Whether a method has to be given more than its object."""
    by_position = len(spec.posonlyargs) + len(spec.args) - len(spec.defaults)
    return by_position > 1 or any(default is None for default in spec.kw_defaults)


def _call(machine: Machine, method: Function, this: Instance) -> bool:
    """Call a method, up to where it ends or raises; whether it has made no history, else all is as it was."""
    attrs = dict(this.attrs)
    items = [(value, list(value.items)) for value in attrs.values() if isinstance(value, Sequence)]
    faults, known, mode = len(machine.type_faults), len(machine.nodes), machine.grad_enabled
    try:
        machine.call_function(method, [this], {}, Site(method.node, method.qualname))
    except Raised:
        del machine.type_faults[faults:]
    new = set(machine.nodes[known:])
    made = [t.node for value in this.attrs.values() for t in graph_in(value) if t.node in new]
    is_kept = all(node is None or node.leaf for node in made)
    if not is_kept:
        this.attrs.clear()
        this.attrs.update(attrs)
        for value, before in items:
            value.items[:] = before
    machine.grad_enabled = mode
    method.called = False
    return is_kept


def _methods(cls: Class | External) -> list[Function]:
    """Of a class and its bases in view, in the order in which they stand, without those of Python."""
    found: dict[str, Function] = {}
    for base in linear_order(cls) if isinstance(cls, Class) else ():
        for name, value in base.names.items() if isinstance(base, Class) else ():
            if isinstance(value, Function) and not name.startswith("__"):
                found.setdefault(name, value)
    return list(found.values())


@kept
def _read_in(node: ast.AST) -> frozenset[str]:
    """The attributes of `self` that a method reads."""
    return frozenset(own_attributes(n for n in nodes_in(node) if isinstance(getattr(n, "ctx", None), ast.Load)))
