"""What an object counts and collects, if nobody in view calls its methods: others have, before one is entered.

The list of an object is filled, too, by classes that derive from its own, and by those who have it.

`if self.memory.count < self.batch_size: return` is true before anything was remembered, and not for long, and so is
`if len(self.memory) < self.batch_size: return`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.classes import deriving_from, methods_of
from autodetach.machine.core import Core
from autodetach.machine.mentioned import ADDS
from autodetach.machine.program_values import Class, Function, Instance
from autodetach.machine.reach import Reach
from autodetach.machine.values import Sequence, Value

DEPTH = 3
"""How far an object that counts stands from the one whose method is entered: `self.agent.memory`."""
Restore = Callable[[], None]


def widen(m: Core, this: Value, entered: str, reach: Reach) -> list[Restore]:
    """Where another method than the entered one counts or collects, which nobody has called, it may have.

    Returns what gives back that which is as it was left.
    """
    called: frozenset[str] | None = None
    undo: list[Restore] = []
    for holder in instances_in(this) if isinstance(this, Instance) else ():
        counting = {name for name, value in holder.attrs.items() if type(value) is int or _is_empty(value)}
        counters = dict(_counters(holder)) if counting else {}
        if holder is this:
            others = [name for name in sorted(counting - counters.keys()) if _is_empty(holder.attrs[name])]
            undo += [_fill(m, n, holder.attrs[n]) for n in others if _is_filled_by_others(m, holder, n, reach)]
        for name, methods in counters.items():
            if name not in counting or any(method.called for method in methods):
                continue
            if called is None:
                called = asked_for(entered, reach)
            if called.isdisjoint(method.name for method in methods):
                value = holder.attrs[name]
                undo.append(_fill(m, name, value) if isinstance(value, Sequence) else _count(m, holder, name, value))
    return undo


def _is_empty(value: Value) -> bool:
    return isinstance(value, Sequence) and value.exact and not value.items


def _count(m: Core, holder: Instance, name: str, value: Value) -> Restore:
    number = holder.attrs[name] = m.fresh("number")

    def restore() -> None:
        if holder.attrs.get(name) is number:
            holder.attrs[name] = value

    return restore


def _fill(m: Core, name: str, value: Sequence) -> Restore:
    """Something stands in it that nobody knows."""
    item = m.opaque(name)
    value.items.append(item)
    value.exact = False

    def restore() -> None:
        value.items[:] = [other for other in value.items if other is not item]
        value.exact = not value.items

    return restore


def instances_in(this: Instance) -> list[Instance]:
    """An object and those that it holds, of classes that are in view."""
    found = [this]
    level = [this]
    for _ in range(DEPTH - 1):
        inner = (value for holder in level for value in list(holder.attrs.values()) if isinstance(value, Instance))
        level = [value for value in inner if isinstance(value.cls, Class) and all(value is not f for f in found)]
        found += level
    return found


def _counters(holder: Instance) -> Iterator[tuple[str, list[Function]]]:
    """The attributes in which methods of a class count or collect, its constructor apart, and these methods."""
    found: dict[str, list[Function]] = {}
    for method in methods_of(holder.cls):
        for name in _counted_in(method.node) if method.name != "__init__" else ():
            found.setdefault(name, []).append(method)
    yield from found.items()


def _is_filled_by_others(m: Core, holder: Instance, name: str, reach: Reach) -> bool:
    """Whether classes that derive from that of an object add to what it collects, or those that have the object do."""
    return reach.is_set_on_others(name) or any(
        name in _counted_in(method.node)
        for cls in deriving_from(holder.cls, m.classes)
        for method in cls.names.values()
        if isinstance(method, Function)
    )


@kept
def _counted_in(node: ast.AST) -> frozenset[str]:
    """The attributes of `self` that a method sets by what they are, or adds to.

    `self.n += 1`, `self.n = (self.n + 1) % size`, `self.kept.append(x)`
    """
    names: set[str] = set()
    for inner in nodes_in(node):
        if isinstance(inner, ast.AugAssign):
            names.update(own_attributes([inner.target]))
        elif isinstance(inner, ast.Assign):
            names.update(own_attributes(inner.targets) & own_attributes(nodes_in(inner.value)))
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in ADDS:
            names.update(own_attributes([inner.func.value]))
    return frozenset(names)


def own_attributes(nodes: Iterable[ast.AST]) -> set[str]:
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    }


def asked_for(method: str, reach: Reach) -> frozenset[str]:
    """The names of a method, and of those that it calls by name, directly or not."""
    found, pending = {method}, [method]
    while pending:
        further = reach.asked_by(pending.pop()) - found
        found |= further
        pending += further
    return frozenset(found)
