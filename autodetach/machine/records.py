"""Dataclasses, named tuples and namespaces: their fields, how Python fills them, and copies with some changed."""

from __future__ import annotations

import ast

from autodetach.machine.classes import library_bases, linear_order
from autodetach.machine.core import MISSING, Core
from autodetach.machine.graph import Site
from autodetach.machine.keywords import left_to_default
from autodetach.machine.values import Class, External, Instance, Sequence, Value

NAMESPACE = "types.SimpleNamespace"
"""The class of the standard library whose objects are only their attributes."""


def fill_namespace(this: Instance, args: list[Value], kwargs: dict[str, Value]) -> None:
    """What `types.SimpleNamespace` is given: attributes, and maybe more of which nobody knows here."""
    this.attrs.update((name, value) for name, value in kwargs.items() if name != "**")
    this.open = bool(args) or "**" in kwargs


def is_named_tuple(cls: Class | External) -> bool:
    """Whether a class derives from `typing.NamedTuple`, as those that `namedtuple()` makes do here."""
    return any(p.endswith("NamedTuple") for p in library_bases(cls))


def fields_of(cls: Class) -> list[tuple[str, Value, bool]]:
    """The fields of a dataclass or NamedTuple, those of its bases first: as `annotated_fields` gives them."""
    fields: list[tuple[str, Value, bool]] = []
    for c in reversed(linear_order(cls)):
        if isinstance(c, Class):
            own = c.dataclass_fields if c.dataclass_fields is not None else annotated_fields(c)
            names = {f[0] for f in own}
            fields = [f for f in fields if f[0] not in names] + own
    return fields


def annotated_fields(cls: Class) -> list[tuple[str, Value, bool]]:
    """The fields of the body: name, default (MISSING for none), whether the default is a function that makes it."""
    fields: list[tuple[str, Value, bool]] = []
    for statement in cls.node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            default = cls.names.get(name, MISSING)
            if isinstance(default, Instance) and default.cls.name == "field":
                factory = default.attrs.get("default_factory", MISSING)
                if factory is not MISSING:
                    fields.append((name, factory, True))
                    continue
                default = default.attrs.get("default", MISSING)
            fields.append((name, default, False))
    return fields


def fill(m: Core, this: Instance, cls: Class, args: list[Value], kwargs: dict[str, Value], site: Site) -> None:
    """Bind the arguments of the constructor that Python makes: by position, by name, or by default."""
    for i, (name, default, factory) in enumerate(fields_of(cls)):
        if i < len(args):
            this.attrs[name] = args[i]
        elif name in kwargs:
            this.attrs[name] = kwargs[name]
        elif factory:
            this.attrs[name] = m.call(default, [], {}, site)
        else:
            this.attrs[name] = left_to_default(m, name, default, kwargs)
    if is_named_tuple(cls):
        this.attrs["#items"] = Sequence("tuple", list(this.attrs.values()), m.clock)


def replaced(m: Core, this: Instance, changes: dict[str, Value]) -> Instance:
    """A copy of a record with some fields changed."""
    copy = Instance(this.cls, m.serial(), m.clock)
    copy.open = this.open
    copy.attrs = {**this.attrs, **changes}
    if "#items" in copy.attrs:
        fields = [v for k, v in copy.attrs.items() if k != "#items"]
        copy.attrs["#items"] = Sequence("tuple", fields, m.clock)
    return copy
