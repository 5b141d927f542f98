"""Keyword arguments that nobody knows one by one: of callers out of view, and those passed by `**config`."""

from __future__ import annotations

from collections.abc import Mapping

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.state import MISSING
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import Mapping as Table
from autodetach.machine.values import Opaque, Value

KEYWORDS = "#keywords"
"""Marks what holds the keyword arguments."""
OUT_OF_VIEW = "**"
"""The name under which a call passes keyword arguments that are not known one by one."""
FURTHER = "*"
"""The name under which a call passes the arguments behind those that have names, if nobody knows how many they are."""


def of_a_caller(m: Core, name: str) -> Opaque:
    """The keyword arguments that a caller out of view gives."""
    value = m.opaque(name)
    value.attrs[KEYWORDS] = True
    return value


def left_to_default(m: Core, name: str, default: Value, given: Mapping[str, Value]) -> Value:
    """What a parameter is that a call does not name.

    A default of None asks for something to be given, which settings from out of view do: `Data(**config)`,
    `net(**batch)`. What a caller hands on of its own keyword arguments is mostly nothing.
    """
    others = given.get(OUT_OF_VIEW)
    is_handed_on = isinstance(others, Table) or (isinstance(others, Opaque) and KEYWORDS in others.attrs)
    is_asked = default is None and others is not None and not is_handed_on
    return m.opaque(name) if default is MISSING or is_asked else default


def method(m: Core, this: Opaque, name: str, args: list[Value], site: Site) -> Value:
    """`get`, `pop` and `setdefault` of them, else MISSING: where a caller need not give one, it is rarely given."""
    if KEYWORDS not in this.attrs or name not in ("get", "pop", "setdefault") or not args:
        return MISSING
    default = args[1] if len(args) > 1 else None
    if len(args) > 1 and not is_constant(default):
        return default
    key = ("[]", m.key(args[0]))
    if key not in this.attrs:
        value = m.subscript(this, args[0], site)
        m.oracle.presumed[m.key(value)] = m.key(default)
    return this.attrs[key]
