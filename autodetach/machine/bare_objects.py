"""Objects that a program makes without their constructor: `twin = cls.__new__(cls)`, to be filled by hand.

https://docs.python.org/3/reference/datamodel.html#object.__new__
"""

from __future__ import annotations

from autodetach.machine import library_objects
from autodetach.machine.classes import library_bases
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.module_tree import is_module
from autodetach.machine.program_values import Class, External, Instance
from autodetach.machine.values import Opaque, Value

OF_PYTHON = frozenset(
    f"builtins.{name}" for name in "dict list tuple set frozenset str bytes int float complex".split()
)
"""Classes with methods of their own."""


def bare_object(m: Core, args: list[Value], site: Site) -> Value:
    """An object of the class that is given, which has no attributes so far, but may be given any."""
    if not can_be_bare(args):
        return m.call_unknown("__new__", args, {}, site)
    this = Instance(args[0], m.serial(), m.clock)
    this.open = True
    return this


def can_be_bare(args: list[Value]) -> bool:
    """Whether objects of the given class are what their attributes say: modules, or those of classes in view."""
    cls = args[0] if args else None
    return isinstance(cls, (Class, External)) and (not library_bases(cls) or is_module(Instance(cls, 0)))


def is_open(cls: Class | External) -> bool:
    """Whether the class has a base that nobody knows here, so that it may have any attribute."""
    if isinstance(cls, External):
        return not library_objects.knows_class(cls.path)
    return any(
        isinstance(b, Opaque)
        or (isinstance(b, External) and _may_have_more(b.path))
        or (isinstance(b, Class) and is_open(b))
        for b in cls.bases
    )


def _may_have_more(path: str) -> bool:
    """Whether a class that is not in view may give its subclasses attributes that nobody knows here."""
    return path in OF_PYTHON or not (library_objects.knows_class(path) or path.startswith("builtins."))
