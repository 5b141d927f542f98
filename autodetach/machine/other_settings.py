"""A path of a program in whose files other constants stand as settings."""

from __future__ import annotations

import ast

from autodetach.machine.core import Core
from autodetach.machine.oracle import Policy
from autodetach.machine.values import Instance, Mapping, Opaque, Value
from autodetach.machine.written_settings import written_settings

Put = tuple[tuple[str, ...], str | bool | int]
"""The keys that lead to an entry of what is stored, and its constant."""


def places(tree: ast.Module, policy: Policy) -> dict[ast.stmt, list[Put]]:
    """What stands in a file otherwise on a path, by the statements that store it."""
    found: dict[ast.stmt, list[Put]] = {}
    for entry in written_settings(tree) if policy.written else ():
        for written in policy.written:
            if written.setting == entry.setting:
                found.setdefault(entry.statement, []).append((entry.path, written.value))
    return found


def as_written(m: Core, statement: ast.stmt, value: Value) -> Value:
    """What a statement stores, if other constants stand there."""
    for path, constant in m.written.get(statement, ()):
        if not path:
            return constant
        this = value
        for name in path[:-1]:
            this = _entry(m, this, name)
        _put(m, this, path[-1], constant)
    return value


def _entry(m: Core, this: Value, name: str) -> Value:
    if isinstance(this, Mapping):
        return this.items.get(m.key(name), (name, None))[1]
    return this.attrs.get(name) if isinstance(this, (Opaque, Instance)) else None


def _put(m: Core, this: Value, name: str, value: Value) -> None:
    if isinstance(this, Mapping) and m.key(name) in this.items:
        this.items[m.key(name)] = (name, value)
    elif isinstance(this, (Opaque, Instance)) and name in this.attrs:
        this.attrs[name] = value
