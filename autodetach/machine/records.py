"""Dataclasses, `attrs` classes, named tuples and namespaces: their fields, and how Python fills them."""

from __future__ import annotations

import ast

from autodetach.machine.classes import library_bases, linear_order
from autodetach.machine.core import Core
from autodetach.machine.events import AttributeSet
from autodetach.machine.graph import Site
from autodetach.machine.held import keeps_history
from autodetach.machine.implicit_calls import special
from autodetach.machine.keywords import left_to_default
from autodetach.machine.marks import ITEMS
from autodetach.machine.program_values import Class, External, Field, Instance, Native
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.state import MISSING
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import Mapping, Sequence, Value

NAMESPACE = "types.SimpleNamespace"
"""The class of the standard library whose objects are only their attributes."""
OF_NAMED_TUPLES = frozenset("_asdict _fields _make _replace".split())
DATACLASS = "dataclass"
OF_ATTRS = frozenset(
    f"{package}.{name}"
    for package, names in (("attr", "s attrs define frozen mutable dataclass"), ("attrs", "define frozen mutable"))
    for name in names.split()
)
"""The decorators of `attrs`, by their dotted paths."""
MAKER = "#record"
"""Marks a decorator that was called with options: the name of its kind."""
FIELD = "dataclasses.field"
"""The class of what `field(...)` gives, in a body."""


def fill_namespace(this: Instance, args: list[Value], kwargs: dict[str, Value]) -> None:
    """What `types.SimpleNamespace` is given: attributes, and maybe more of which nobody knows here."""
    this.attrs.update((name, value) for name, value in kwargs.items() if name != "**")
    this.open = bool(args) or "**" in kwargs


def is_named_tuple(cls: Class | External) -> bool:
    """Whether a class derives from `typing.NamedTuple`, as those that `namedtuple()` makes do here."""
    return any(p.endswith("NamedTuple") for p in library_bases(cls))


def is_record(cls: Class | External) -> bool:
    """Whether Python, or `attrs`, has made the constructor of a class from its fields, or that of a base."""
    if isinstance(cls, External):
        return False
    return is_named_tuple(cls) or any(isinstance(c, Class) and c.fields is not None for c in linear_order(cls))


def makes_record(decorator: Value) -> str:
    """Whether a decorator makes a record of a class: "dataclass", "attrs", or "" for neither."""
    if isinstance(decorator, Native):
        kind = decorator.attrs.get(MAKER, "")
        return kind if isinstance(kind, str) else ""
    if not isinstance(decorator, External):
        return ""
    return "attrs" if decorator.path in OF_ATTRS else DATACLASS if decorator.name == DATACLASS else ""


def maker(kind: str) -> Native:
    """`dataclass(frozen=True)`: a decorator with options, which are read where it is written."""
    made = Native(kind, lambda inner, k, s: inner[0] if inner else None)
    made.attrs[MAKER] = kind
    return made


def make_record(cls: Class, kind: str, decorator: ast.expr) -> None:
    """Give a class its fields, and take what describes them out of its names, as its decorator does."""
    text = spelled(decorator)
    cls.fields = annotated_fields(cls, kind, by_name="kw_only=True" in text)
    cls.frozen = "frozen=True" in text or last_word(decorator) == "frozen"
    for field in cls.fields:
        if isinstance(cls.names.get(field.name), Instance) and field.description is not None:
            del cls.names[field.name]
            if field.default is not MISSING and not field.factory:
                cls.names[field.name] = field.default


def fields_of(cls: Class) -> list[Field]:
    """The fields of a record, those of its bases first."""
    fields: list[Field] = []
    for c in reversed(linear_order(cls)):
        if not isinstance(c, Class):
            continue
        of_tuple = any(isinstance(b, External) and b.name == "NamedTuple" for b in c.bases)
        own = c.fields if c.fields is not None else annotated_fields(c) if of_tuple else []
        names = {f.name for f in own}
        fields = [f for f in fields if f.name not in names] + own
    return fields


def annotated_fields(cls: Class, kind: str = "", *, by_name: bool = False) -> list[Field]:
    """The fields of a body; of `attrs`, also those that have a description and no annotation."""
    fields: list[Field] = []
    for statement in cls.node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            annotation = last_word(_outermost(statement.annotation))
            if annotation == "KW_ONLY":
                by_name = True
            elif annotation != "ClassVar":
                name = statement.target.id
                value = cls.names.get(name, MISSING)
                fields.append(_field(name, value, kind, by_name=by_name, kept=annotation != "InitVar"))
        elif kind == "attrs" and isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if _description(cls.names.get(name)) is not None:
                fields.append(_field(name, cls.names[name], kind, by_name=by_name))
    return fields


def _outermost(annotation: ast.expr) -> ast.expr:
    """`ClassVar` of `ClassVar[int]`, be it written as a text."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except (SyntaxError, ValueError):
            return annotation
    return annotation.value if isinstance(annotation, ast.Subscript) else annotation


def _description(value: Value) -> Instance | None:
    """What `field(...)` gave, if a value is that."""
    is_one = isinstance(value, Instance) and isinstance(value.cls, External) and value.cls.path == FIELD
    return value if is_one else None


def _field(name: str, value: Value, kind: str, *, by_name: bool, kept: bool = True) -> Field:
    argument = name.lstrip("_") or name if kind == "attrs" else name
    made = _description(value)
    if made is None:
        return Field(name, value, argument=argument, by_name=by_name, kept=kept)
    given = made.attrs
    factory = given.get("factory", given.get("default_factory"))
    default = given.get("default", MISSING)
    if isinstance(default, Native) and default.name == "Factory":
        factory = default.this
    return Field(
        name,
        default if factory is None else factory,
        factory is not None,
        None if given.get("init") is False else argument,
        by_name or given.get("kw_only") is True,
        kept,
        given.get("converter"),
        made,
    )


def fill(m: Core, this: Instance, cls: Class, args: list[Value], kwargs: dict[str, Value], site: Site) -> None:
    """Do what the constructor does that Python makes: bind the arguments by position, by name, or by default."""
    left = list(args)
    only_here: list[Value] = []
    for field in fields_of(cls):
        value = _given(m, field, left, kwargs, site)
        if value is MISSING:
            continue
        if field.kept:
            this.attrs[field.name] = value
            if not cls.frozen and keeps_history(value):
                m.attributes_set.append(AttributeSet(this, field.name, value, site))
        else:
            only_here.append(value)
    if is_named_tuple(cls):
        this.attrs[ITEMS] = Sequence("tuple", list(this.attrs.values()), m.clock)
    for name in ("__post_init__", "__attrs_post_init__"):
        special(m, this, (name,), only_here, site)


def _given(m: Core, field: Field, left: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """The value of a field, of `left`, what is given by position and not yet bound, among others; or MISSING."""
    if field.argument is not None and left and not field.by_name:
        value = left.pop(0)
    elif field.argument is not None and field.argument in kwargs:
        value = kwargs[field.argument]
    elif field.factory:
        return m.call(field.default, [], {}, site)
    elif field.argument is None:
        return field.default
    else:
        return left_to_default(m, field.name, field.default, kwargs)
    return value if field.converter is None else m.call(field.converter, [value], {}, site)


def replaced(m: Core, this: Instance, changes: dict[str, Value]) -> Instance:
    """A copy of a named tuple with some fields changed, or all of those that hold history if it is not known which."""
    copy = Instance(this.cls, m.serial(), m.clock)
    copy.open = this.open
    names = [name for name in this.attrs if name != ITEMS]
    copy.attrs = {name: changed(m, this.attrs[name], name, changes) for name in names}
    copy.attrs[ITEMS] = Sequence("tuple", list(copy.attrs.values()), m.clock)
    return copy


def changed(m: Core, old: Value, name: str, changes: dict[str, Value]) -> Value:
    """What a field holds in a copy with these changes: anything, where it is not known which fields they change."""
    if name in changes:
        return changes[name]
    return old if "**" not in changes or is_constant(old) else m.opaque(name)


def named_tuple_attribute(m: Core, cls: Class, this: Instance | None, name: str) -> Value:
    """What `typing.NamedTuple` gives a class, or an object of it, under one of `OF_NAMED_TUPLES`."""
    names = [field.name for field in fields_of(cls)]
    if name == "_fields":
        return Sequence("tuple", list(names), m.clock)
    if name == "_make":

        def make(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
            return m.call(cls, m.collect(args[0], site)[0] if args else [], {}, site)

        return Native(name, make, cls)

    def call(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        one = args[0] if this is None and args else this
        if not isinstance(one, Instance):
            return m.opaque(name)
        return replaced(m, one, kwargs) if name == "_replace" else as_mapping(m, one, names)

    return Native(name, call, cls if this is None else this)


def as_mapping(m: Core, this: Instance, names: list[str]) -> Mapping:
    """Some attributes of an object by their names."""
    made = Mapping(m.clock)
    for name in names:
        made.items[m.key(name)] = (name, this.attrs.get(name))
    return made
