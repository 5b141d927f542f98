"""Classes of `enum`: each member is one object, that has a name and a value and is equal to no other.

https://docs.python.org/3/library/enum.html
"""

from __future__ import annotations

from autodetach.machine.classes import declared_by, library_bases
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.program_values import (
    Class,
    ClassMethod,
    Function,
    Instance,
    Method,
    Native,
    Property,
    StaticMethod,
)
from autodetach.machine.state import MISSING
from autodetach.machine.told_of_values import MEMBER, is_constant, is_member, key_of
from autodetach.machine.values import Mapping, Sequence, Value

ENUMS = frozenset(f"enum.{name}" for name in "Enum IntEnum StrEnum Flag IntFlag".split())
NAMES = frozenset({"name", "value", "_name_", "_value_"})
NO_MEMBERS = (Class, ClassMethod, Function, Native, Property, StaticMethod)
CREATING = frozenset({"__new__", "__init__"})


def make_members(m: Core, cls: Class) -> None:
    """Put the members in the places of what the body of a class of `enum` has given them as values.

    Those that are texts or numbers too, by another base, stay what they are and only get to know their names.
    """
    bases = set(library_bases(cls))
    if bases.isdisjoint(ENUMS):
        return
    values = {name: value for name, value in cls.names.items() if is_for_member(name, value)}
    if bases != {"enum.Enum"} or any(True for name in CREATING for _ in declared_by(cls, name)):
        m.named_constants.update({key_of(value): (cls, name) for name, value in values.items() if is_constant(value)})
        return
    made: dict[object, Instance] = {}
    for name, value in values.items():
        if key_of(value) not in made:
            made[key_of(value)] = _member(m, cls, name, value)
        cls.names[name] = made[key_of(value)]


def is_for_member(name: str, value: Value) -> bool:
    return not name.startswith("_") and not isinstance(value, NO_MEMBERS)


def _member(m: Core, cls: Class, name: str, value: Value) -> Instance:
    this = Instance(cls, m.serial(), m.clock)
    this.open = True
    this.attrs = {MEMBER: f"{cls.qualname}.{name}", "name": name, "value": value, "_name_": name, "_value_": value}
    return this


def members_of(m: Core, cls: Value) -> Sequence | None:
    """The members of a class, each once, in order; None if it has none."""
    values = cls.names.values() if isinstance(cls, Class) else ()
    found = list(dict.fromkeys(value for value in values if is_member(value) and value.cls is cls))
    return Sequence("tuple", found, m.clock) if found else None


def by_name(cls: Value, name: Value) -> Value:
    """`Stage["TRAIN"]`; MISSING if the class has no such member."""
    found = cls.names.get(name, MISSING) if isinstance(cls, Class) and isinstance(name, str) else MISSING
    return found if is_member(found) else MISSING


def by_value(m: Core, cls: Class, args: list[Value]) -> Value:
    """`Stage(1)`: a member, or something plain that is not known; MISSING if the class has no members."""
    members = members_of(m, cls)
    if members is None:
        return MISSING
    value = args[0] if args else None
    found = (this for this in members.items if value is this or key_of(this.attrs["value"]) == key_of(value))
    return next(found, m.sym((cls.qualname, m.key(value))))


def by_names(m: Core, cls: Class) -> Value:
    """`Stage.__members__`; MISSING if the class has no members."""
    if members_of(m, cls) is None:
        return MISSING
    found = Mapping(m.clock)
    found.items = {m.key(name): (name, value) for name, value in cls.names.items() if is_member(value)}
    return found


def attribute_of_constant(m: Core, value: Value, name: str, site: Site) -> Value:
    """An attribute of a member that is a text or a number; MISSING if the value is that of none."""
    known = m.named_constants.get(key_of(value)) if is_constant(value) else None
    if known is None:
        return MISSING
    cls, called = known
    if name in NAMES:
        return called if "name" in name else value
    raw = next(declared_by(cls, name), MISSING)
    if isinstance(raw, Property):
        return m.call(raw.getter, [value], {}, site)
    return Method(raw, value) if isinstance(raw, Function) else MISSING
