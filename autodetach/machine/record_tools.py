"""The functions of `dataclasses` and of `attrs`: records as dicts, copies with other fields, what fields there are."""

from __future__ import annotations

import ast
from collections.abc import Callable

from autodetach.machine.copies import deepcopy
from autodetach.machine.core import Core, Handler
from autodetach.machine.graph import Site
from autodetach.machine.program_values import Class, External, Field, Instance, Native
from autodetach.machine.records import (
    DATACLASS,
    FIELD,
    OF_ATTRS,
    annotated_fields,
    as_mapping,
    changed,
    fields_of,
    is_named_tuple,
    is_record,
    maker,
    replaced,
)
from autodetach.machine.state import MISSING
from autodetach.machine.values import FIELD_OF_RECORD, Mapping, Sequence, Value

OF_RECORDS = frozenset({"__dataclass_fields__", "__annotations__"})
"""What Python has written down of the fields of a class."""
MAX_LEVELS = 6
"""So many records in records are turned into dicts."""


def _class_of(value: Value) -> Class | None:
    """The record that a value is, or is an object of."""
    cls = value.cls if isinstance(value, Instance) else value
    return cls if isinstance(cls, Class) and is_record(cls) else None


def _field(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`field(default_factory=list)`, in the body of a class."""
    made = Instance(External(FIELD), m.serial(), m.clock)
    made.attrs.update(kwargs)
    if args:
        made.attrs["default"] = args[0]
    return made


def _factory(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`attr.Factory(list)`, as a default."""
    made = args[0] if args else None
    return Native("Factory", lambda inner, k, s: m.call(made, [], {}, s), made)


def _made_by(kind: str) -> Handler:
    """A decorator, called with options or with the class itself."""

    def make(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        return args[0] if args else maker(kind)

    return make


def _make_dataclass(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`make_dataclass("Batch", ["x", ("y", Tensor), ("mask", Tensor, None)])`."""
    given = args[1] if len(args) > 1 else None
    if not isinstance(given, Sequence) or not isinstance(args[0], str):
        return Native("make_dataclass", lambda a, k, s: m.opaque("record"))
    fields = []
    for one in given.items:
        parts = one.items if isinstance(one, Sequence) else [one]
        if parts and isinstance(parts[0], str):
            fields.append(Field(parts[0], parts[2] if len(parts) > 2 else MISSING, argument=parts[0]))
    node = ast.ClassDef(name=args[0], bases=[], keywords=[], body=[], decorator_list=[])
    cls = Class(ast.copy_location(node, site.node), args[0], args[0], [], {})
    cls.fields = fields
    return cls


def _replace(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`dataclasses.replace(state, h=h)`: made anew, of what the other one has and of what is given."""
    this = args[0] if args else None
    cls = _class_of(this)
    if cls is None or not isinstance(this, Instance):
        return m.opaque("replace")
    if is_named_tuple(cls):
        return replaced(m, this, kwargs)
    given = {name: value for name, value in kwargs.items() if name != "**"}
    for field in fields_of(cls):
        name = field.argument
        if field.kept and name is not None and name not in given:
            given[name] = changed(m, this.attrs.get(field.name), name, kwargs)
    return m.call(cls, [], given, site)


def _fields(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    cls = _class_of(args[0]) if args else None
    if cls is None:
        return m.opaque("fields")
    return Sequence("tuple", [_described(m, field) for field in fields_of(cls) if field.kept], m.clock)


def attribute_of_record(m: Core, cls: Value, name: str) -> Value:
    """One of `OF_RECORDS`, of a class or of an object of it: its fields, or its own annotations, by their names."""
    if not isinstance(cls, Class):
        return m.opaque(name)
    if name == "__annotations__":
        names = [field.name for field in annotated_fields(cls)]
        found: list[tuple[str, Value]] = [(own, m.opaque(own)) for own in names]
    else:
        is_one = is_record(cls) and not is_named_tuple(cls)
        found = [(field.name, _described(m, field)) for field in fields_of(cls) if field.kept] if is_one else []
    if not found:
        return m.opaque(name)
    made = Mapping(m.clock)
    made.items.update((m.key(own), (own, value)) for own, value in found)
    return made


def _described(m: Core, field: Field) -> Instance:
    """What `dataclasses.fields` gives of a field."""
    given = {} if field.description is None else field.description.attrs
    made = Instance(External(FIELD_OF_RECORD), m.serial(), m.clock)
    made.open = True
    made.attrs["name"] = field.name
    made.attrs["init"] = field.argument is not None
    made.attrs["metadata"] = given.get("metadata", Mapping(m.clock))
    return made


def _is_dataclass(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    value = args[0] if args else None
    if isinstance(value, (Instance, Class)):
        cls = _class_of(value)
        return cls is not None and not is_named_tuple(cls)
    return m.fresh("bool")


def _as_dict(copied: Handler | None) -> Handler:
    """`asdict`, by which all else in it is `copied`."""

    def convert(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        made = _converted(m, args[0] if args else None, copied, site, as_mapping)
        return m.call(kwargs["dict_factory"], [made], {}, site) if "dict_factory" in kwargs else made

    return convert


def _as_tuple(copied: Handler | None) -> Handler:
    def convert(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        return _converted(m, args[0] if args else None, copied, site, _tuple_of)

    return convert


def _tuple_of(m: Core, this: Instance, names: list[str]) -> Value:
    return Sequence("tuple", [this.attrs.get(name) for name in names], m.clock)


def _converted(
    m: Core,
    value: Value,
    copied: Handler | None,
    site: Site,
    convert: Callable[[Core, Instance, list[str]], Value],
    levels: int = MAX_LEVELS,
) -> Value:
    """A record as another container of its fields, and so those in it, and in its containers."""
    cls = _class_of(value) if isinstance(value, Instance) else None
    if cls is not None and not is_named_tuple(cls):
        value = convert(m, value, [field.name for field in fields_of(cls) if field.kept])
    elif not isinstance(value, (Sequence, Mapping)):
        return value if copied is None else copied(m, [value], {}, site)
    if levels == 0:
        return value

    def inner(one: Value) -> Value:
        return _converted(m, one, copied, site, convert, levels - 1)

    if isinstance(value, Sequence):
        return Sequence(value.kind, [inner(one) for one in value.items], m.clock, value.exact)
    made = Mapping(m.clock, value.exact)
    made.items.update({key: (name, inner(one)) for key, (name, one) in value.items.items()})
    return made


HANDLERS: dict[str, Handler] = {
    "dataclasses.field": _field, "dataclasses.dataclass": _made_by(DATACLASS),
    "dataclasses.make_dataclass": _make_dataclass, "dataclasses.replace": _replace, "copy.replace": _replace,
    "dataclasses.fields": _fields, "dataclasses.is_dataclass": _is_dataclass,
    "dataclasses.asdict": _as_dict(deepcopy), "dataclasses.astuple": _as_tuple(deepcopy),
    **dict.fromkeys(OF_ATTRS, _made_by("attrs")),
    **dict.fromkeys(("attr.ib", "attr.attrib", "attr.field", "attrs.field"), _field),
    **dict.fromkeys(("attr.Factory", "attrs.Factory"), _factory),
    **dict.fromkeys(("attr.evolve", "attrs.evolve"), _replace),
    **dict.fromkeys(("attr.fields", "attrs.fields"), _fields),
    **dict.fromkeys(("attr.asdict", "attrs.asdict"), _as_dict(None)),
    **dict.fromkeys(("attr.astuple", "attrs.astuple"), _as_tuple(None)),
}  # fmt: skip
