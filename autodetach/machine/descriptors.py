"""Attributes that a class in view manages itself: properties, and objects with `__set__` or `__delete__`.

https://docs.python.org/3/howto/descriptor.html#descriptor-protocol
"""

from __future__ import annotations

from autodetach.machine.classes import declared_by
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import own_method, special
from autodetach.machine.program_values import Class, Instance, Property
from autodetach.machine.state import MISSING
from autodetach.machine.values import Value


def declared(this: Instance, name: str) -> Value:
    """What the class of an object, or a base of it in view, has under a name; MISSING if there is nothing."""
    return next(declared_by(this.cls, name), MISSING) if isinstance(this.cls, Class) else MISSING


def comes_first(raw: Value) -> bool:
    """Whether a descriptor gives what is read even where the object has something under the name itself."""
    return own_method(raw, "__get__") is not None and own_method(raw, "__set__", "__delete__") is not None


def is_set_by_class(m: Core, this: Instance, name: str, new: Value, site: Site) -> bool:
    """Set an attribute by what the class has under its name; whether there is such a thing."""
    raw = declared(this, name)
    if isinstance(raw, Property) and not raw.cached:
        if raw.setter is not None:
            m.call(raw.setter, [this, new], {}, site)
        return True
    return special(m, raw, ("__set__",), [this, new], site) is not MISSING


def delete_past_class(m: Core, this: Instance, name: str, site: Site) -> None:
    """`object.__delattr__(self, name)`, which asks only for a descriptor."""
    raw = declared(this, name)
    if isinstance(raw, Property) and not raw.cached:
        if raw.deleter is not None:
            m.call(raw.deleter, [this], {}, site)
    elif special(m, raw, ("__delete__",), [this], site) is MISSING:
        this.attrs.pop(name, None)


def delete_attribute(m: Core, this: Instance, name: str, site: Site) -> None:
    """`del this.name`."""
    if special(m, this, ("__delattr__",), [name], site) is MISSING:
        delete_past_class(m, this, name, site)
