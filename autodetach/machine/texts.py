"""Texts: computed where they are known, as Python does it."""

from __future__ import annotations

from collections.abc import Callable

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import formatted_by_fields
from autodetach.machine.state import MISSING, Raised
from autodetach.machine.values import Sequence, Slice, Sym, Value, is_constant

LONG_TEXT = 10_000
"""Characters, or bytes, beyond which a text is not computed."""


def subscript(m: Core, this: str | bytes, index: Value) -> Value:
    if isinstance(index, int):
        try:
            return this[index]
        except IndexError as error:
            raise Raised("IndexError") from error
    if isinstance(index, Slice) and all(
        p is None or isinstance(p, int) for p in (index.lower, index.upper, index.step)
    ):
        try:
            return this[slice(index.lower, index.upper, index.step)]
        except ValueError:
            return m.fresh("str")
    return m.fresh("str")


def method(m: Core, this: str | bytes, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """Call a method of a text or of bytes."""
    if not hasattr(this, name):
        m.refuse(site, f"a text has no attribute `{name}`")
    if name == "join" and args:
        m.collect(args[0], site)
        return m.fresh("str")
    if name in ("format", "format_map") and isinstance(this, str):
        formatted_by_fields(m, this, args, kwargs, site)
        if not all(isinstance(a, Sym) or is_constant(a) for a in (*args, *kwargs.values())):
            return m.fresh("str")
        named = [(k, m.key(v)) for k, v in kwargs.items()]
        return m.sym(("." + name, m.key(this), *[m.key(a) for a in args], *named), "str")
    plain = [_plain(a) for a in args]
    if all(p is not MISSING for p in plain) and not kwargs:
        function: Callable[..., Value] = getattr(this, name)
        try:
            result = function(*plain)
        except Exception:
            return m.fresh()
        if isinstance(result, (str, bytes)) and len(result) > LONG_TEXT:
            return m.fresh("str")
        if isinstance(result, (list, tuple)):
            return Sequence(type(result).__name__, list(result), m.clock)
        return result if is_constant(result) else m.fresh()
    return m.sym(("." + name, m.key(this), *[m.key(a) for a in args]), "")


def _plain(value: Value) -> Value:
    if is_constant(value):
        return value if not isinstance(value, int) or abs(value) < LONG_TEXT else MISSING
    if isinstance(value, Sequence) and value.kind == "tuple" and all(is_constant(i) for i in value.items):
        return tuple(value.items)
    return MISSING
