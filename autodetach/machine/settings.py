"""Settings: entries of an object of a file whose defaults may be written over, by keys that nobody knows.

`cfg.TRAIN.NET = ""` stands in a file, and a function of that file merges what was read from another one into `cfg`. A
test of such an entry goes the way of its default. Only where an error ends an entry point behind it, the program is not
meant to be run by its defaults: on another path the test goes the other way, and all entries of the object may be
anything, wherever they are read. What the program surely sets later, it has set.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.core import Core
from autodetach.machine.marks import is_mark
from autodetach.machine.oracle import SETTING, Setting
from autodetach.machine.program_values import Class, Frame, Instance
from autodetach.machine.state import Settings
from autodetach.machine.values import Mapping, Opaque, Value
from autodetach.machine.written_later import is_merging, written_later

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
    names = {id(value): name for name, value in frame.names.items()}
    for value in held:
        cls = value.cls if isinstance(value, Instance) else None
        if isinstance(cls, Class) and (cls.name in later.classes or any(is_merging(name) for name in cls.names)):
            is_written = cls.name in later.classes
        else:
            is_written = any(value is other for other in named)
        if is_written:
            _open(m, value, (names[id(value)],))


def open_written(m: Core, this: Value) -> None:
    """Note that a function writes into an object of its file under a name or key that nobody knows."""
    if isinstance(this, SETTINGS) and m.trail:
        names = m.trail[-1][1].top.names
        name = next((name for name, value in names.items() if value is this), None)
        if name is not None:
            _open(m, this, (name,))


def _open(m: Core, value: Value, path: Setting) -> None:
    if id(value) not in m.settings and len(path) <= DEEP:
        m.settings[id(value)] = known = Settings(value, set(), path)
        for key, entry in list(_entries(value)):
            setting = (*path, key)
            if isinstance(entry, (Opaque, Mapping)):
                _open(m, entry, setting)
            elif not isinstance(entry, CHOICES):
                continue
            elif path[0] not in m.oracle.policy.opened:
                known.open.add(key)
            elif isinstance(value, Mapping):
                value.items[m.key(key)] = (key, _unknown(m, setting, entry))
            elif isinstance(value, (Opaque, Instance)):
                value.attrs[key] = _unknown(m, setting, entry)


def _has_choices(value: Value) -> bool:
    """Whether an entry of an object, or of one in it, may choose something."""
    return any(
        isinstance(entry, CHOICES)
        or (isinstance(entry, (Opaque, Mapping)) and any(isinstance(inner, CHOICES) for _, inner in _entries(entry)))
        for _, entry in _entries(value)
    )


def _entries(value: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(value, Mapping):
        for key, entry in value.items.values():
            if isinstance(key, str):
                yield key, entry
    elif isinstance(value, (Opaque, Instance)):
        for name, entry in value.attrs.items():
            if isinstance(name, str) and not is_mark(name):
                yield name, entry
        if isinstance(value, Instance) and isinstance(value.cls, Class):
            yield from ((name, e) for name, e in value.cls.names.items() if name not in value.attrs)


def set_surely(m: Core, this: Value, name: object) -> None:
    """Note that the program itself sets an entry."""
    if id(this) in m.settings and isinstance(name, str):
        m.settings[id(this)].open.discard(name)


def asked(m: Core, this: Value, name: object, found: Value) -> Value:
    """An entry as a test asks for it: something that is `found` by default, if it may be written over."""
    known = m.settings.get(id(this)) if isinstance(found, CHOICES) else None
    if known is None or m.asking is None or not isinstance(name, str) or name not in known.open:
        return found
    m.asking.add(known.path[0])
    return _unknown(m, (*known.path, name), found)


def _unknown(m: Core, setting: Setting, default: Value) -> Value:
    value = m.sym((SETTING, setting), "bool" if isinstance(default, bool) else "")
    m.oracle.presumed[m.key(value)] = m.key(default)
    return value


@kept
def may_ask(test: ast.expr) -> bool:
    """Whether a test reads entries, and calls nothing."""
    nodes = list(ast.walk(test))
    return any(isinstance(node, (ast.Attribute, ast.Subscript)) for node in nodes) and not any(
        isinstance(node, (ast.Call, ast.Lambda, ast.NamedExpr)) for node in nodes
    )
