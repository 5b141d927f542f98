"""Texts: computed where they are known, as Python does it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import formatted_by_fields
from autodetach.machine.number_readers import truth_of_sums
from autodetach.machine.state import MISSING, Raised
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import Sequence, Slice, Sym, Value

LONG_TEXT = 10_000
"""Characters, or bytes, beyond which a text is not computed."""
WIDE = re.compile(r"\d{4}|:[^}]*\{|%[^a-zA-Z%]*\*")
"""What may ask for a long text where a value is filled in: a width of four digits, or one that is filled in itself."""


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
        if name == "format" and _is_computed(this, [*args, *kwargs.values()]):
            return _filled_in(m, lambda: this.format(*args, **kwargs))
        tags = truth_of_sums([*args, *kwargs.values()])
        if not all(isinstance(a, Sym) or is_constant(a) for a in (*args, *kwargs.values())):
            return m.fresh("str", tags=tags)
        named = [(k, m.key(v)) for k, v in kwargs.items()]
        return m.sym(("." + name, m.key(this), *[m.key(a) for a in args], *named), "str", None, tags)
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


def filled_by_percent(m: Core, this: str, values: Sequence) -> Value:
    """`this % values`."""
    items = values.items
    if values.kind == "tuple" and values.exact and all(isinstance(item, Sym) or is_constant(item) for item in items):
        if _is_computed(this, items):
            return _filled_in(m, lambda: this % tuple(items))
        key = ("Mod", m.key(this), *[m.key(item) for item in items])
        return m.sym(key, "str", None, truth_of_sums(items))
    return m.fresh("str", tags=truth_of_sums(items))


def _is_computed(pattern: str, values: Iterable[Value]) -> bool:
    """Whether a text with places for values is filled in: all are known, and nothing in it makes a long one of them."""
    return all(_plain(value) is not MISSING for value in values) and not WIDE.search(pattern)


def _filled_in(m: Core, fill: Callable[[], str]) -> Value:
    try:
        result = fill()
    except Exception:
        return m.fresh("str")
    return result if len(result) <= LONG_TEXT else m.fresh("str")


def _plain(value: Value) -> Value:
    if is_constant(value):
        return value if not isinstance(value, int) or abs(value) < LONG_TEXT else MISSING
    if isinstance(value, Sequence) and value.kind == "tuple" and all(is_constant(i) for i in value.items):
        return tuple(value.items)
    return MISSING
