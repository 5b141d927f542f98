"""Attributes of classes by the class of these: a property of a metaclass, its methods, and its `__setattr__`.

https://docs.python.org/3/reference/datamodel.html#metaclasses
"""

from __future__ import annotations

from autodetach.machine.classes import declared_by
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import special
from autodetach.machine.program_values import Class, Function, Method, Property
from autodetach.machine.state import MISSING
from autodetach.machine.values import Value

SETTING = "__setattr__"


def declared_by_metaclass(cls: Class, name: str) -> Value:
    """What the metaclass of a class has under a name, if it is in view; MISSING if there is nothing."""
    return MISSING if cls.meta is None else next(declared_by(cls.meta, name), MISSING)


def read_in_metaclass(m: Core, cls: Class, name: str, site: Site, *, own: bool) -> Value:
    """An attribute of a class by its metaclass, or MISSING; of what the class has of its `own`, only a property."""
    raw = declared_by_metaclass(cls, name)
    if isinstance(raw, Property):
        return m.call(raw.getter, [cls], {}, site)
    if own:
        return MISSING
    return Method(raw, cls) if isinstance(raw, Function) else raw


def set_in_class(m: Core, cls: Class, name: str, new: Value, site: Site) -> None:
    """`Memory.state = state`."""
    setter = declared_by_metaclass(cls, SETTING)
    if isinstance(setter, Function):
        m.call(setter, [cls, name, new], {}, site)
    else:
        set_past_metaclass(m, cls, name, new, site)


def set_past_metaclass(m: Core, cls: Class, name: str, new: Value, site: Site) -> None:
    """`type.__setattr__(cls, name, new)`, which asks only for a descriptor."""
    raw = declared_by_metaclass(cls, name)
    if isinstance(raw, Property):
        if raw.setter is not None:
            m.call(raw.setter, [cls, new], {}, site)
    elif special(m, raw, ("__set__",), [cls, new], site) is MISSING:
        cls.names[name] = new
