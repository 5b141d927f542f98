"""Settings: entries of an object of a file whose defaults may be written over, by keys that nobody knows.

`cfg.TRAIN.NET = ""` stands in a file, and a function of that file merges what was read from another one into `cfg`. A
test of such an entry goes the way of its default first, and the other way is a variation of it. In all else, the entry
is its default: so the sizes of networks are. What the program surely sets later, it has set.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.core import Core
from autodetach.machine.marks import is_mark
from autodetach.machine.oracle import SETTING
from autodetach.machine.values import Class, Frame, Instance, Mapping, Opaque, Value
from autodetach.machine.written_later import written_later

DEEP = 4
"""Levels of settings in settings."""
SETTINGS = (Opaque, Mapping, Instance)
CHOICES = (str, bool, type(None))
"""What chooses between ways; numbers are mostly amounts, which are compared with each other."""


def open_settings(m: Core, tree: ast.Module, frame: Frame) -> None:
    """Note which objects of a file, whose body has been run, hold settings."""
    held = [v for v in frame.names.values() if isinstance(v, SETTINGS) and _has_choices(v)]
    if not held:
        return
    later = written_later(tree)
    named = [frame.names[name] for name in later.names if name in frame.names]
    for value in held:
        is_own = isinstance(value, Instance) and isinstance(value.cls, Class) and value.cls.name in later.classes
        if is_own or any(value is other for other in named):
            _open(m, value, DEEP)


def open_written(m: Core, this: Value) -> None:
    """Note that a function writes into an object of its file under a name or key that nobody knows."""
    if isinstance(this, SETTINGS) and m.trail:
        top = m.trail[-1][1].top
        if any(this is value for value in top.names.values()):
            _open(m, this, DEEP)


def _open(m: Core, value: Value, depth: int) -> None:
    if id(value) not in m.settings and depth:
        m.settings[id(value)] = (value, {key for key, entry in _entries(value) if isinstance(entry, CHOICES)})
        for _, entry in _entries(value):
            if isinstance(entry, (Opaque, Mapping)):
                _open(m, entry, depth - 1)


def _has_choices(value: Value) -> bool:
    """Whether an entry of an object, or of one in it, may choose something."""
    return any(
        isinstance(entry, CHOICES)
        or (isinstance(entry, (Opaque, Mapping)) and any(isinstance(inner, CHOICES) for _, inner in _entries(entry)))
        for _, entry in _entries(value)
    )


def _entries(value: Value) -> Iterator[tuple[object, Value]]:
    if isinstance(value, Mapping):
        yield from ((key, entry) for key, entry in value.items.values() if isinstance(key, str))
    elif isinstance(value, (Opaque, Instance)):
        yield from ((name, entry) for name, entry in value.attrs.items() if not is_mark(name))
        if isinstance(value, Instance) and isinstance(value.cls, Class):
            yield from ((name, e) for name, e in value.cls.names.items() if name not in value.attrs)


def set_surely(m: Core, this: Value, name: object) -> None:
    """Note that the program itself sets an entry."""
    if id(this) in m.settings:
        m.settings[id(this)][1].discard(name)


def asked(m: Core, this: Value, name: object, found: Value) -> Value:
    """An entry as a test asks for it: something that is `found` by default, if it may be written over."""
    if isinstance(found, CHOICES) and id(this) in m.settings and name in m.settings[id(this)][1]:
        value = m.sym((SETTING, m.key(this), name), "bool" if isinstance(found, bool) else "")
        m.oracle.presumed[m.key(value)] = m.key(found)
        return value
    return found


@kept
def may_ask(test: ast.expr) -> bool:
    """Whether a test reads entries, and calls nothing."""
    nodes = list(ast.walk(test))
    return any(isinstance(node, (ast.Attribute, ast.Subscript)) for node in nodes) and not any(
        isinstance(node, (ast.Call, ast.Lambda, ast.NamedExpr)) for node in nodes
    )
