"""The attributes of the machine and its values by name, whether Python keeps them in a dict, in slots, or mypyc does.

https://mypyc.readthedocs.io/en/latest/native_classes.html: instances of compiled classes have no `__dict__`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, TypeVar

Thing = TypeVar("Thing")

COMPILED = "__mypyc_attrs__"
"""By this a compiled class tells the names of the attributes of its instances, those of its bases among them."""
CONTAINERS = (list, dict, set)


def attributes_of(kind: type) -> tuple[str, ...]:
    """The names of what the instances of a class hold that is compiled, or has slots."""
    own: Any = getattr(kind, COMPILED, None) or getattr(kind, "__slots__", ())
    return tuple(dict.fromkeys(own))


def names_in(thing: object) -> list[str]:
    """The names of the attributes of an object, which may have been added one by one."""
    return list(attributes_of(type(thing))) if hasattr(type(thing), COMPILED) else list(vars(thing))


def twin(thing: Thing, made: Thing) -> Thing:
    """Have `made` hold what another object of its class holds."""
    for name in names_in(thing):
        setattr(made, name, getattr(thing, name))
    return made


def empty(thing: object, besides: str) -> None:
    """Have an object let go of all that it holds `besides` one attribute.

    One that is compiled keeps its attributes, and lets go of containers, which are replaced: others may hold them, too.
    """
    if not hasattr(type(thing), COMPILED):
        held = vars(thing)
        for name in held.keys() - {besides}:
            del held[name]
        return
    for name in attributes_of(type(thing)):
        value: Any = getattr(thing, name)
        if isinstance(value, defaultdict):
            setattr(thing, name, defaultdict(value.default_factory))
        elif type(value) in CONTAINERS:
            setattr(thing, name, type(value)())
