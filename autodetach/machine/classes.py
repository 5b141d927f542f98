"""Classes of the file: the order of look-up, what runs for a call, and functions under a gradient mode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from autodetach.machine.program_values import (
    Class,
    ClassMethod,
    External,
    Function,
    Instance,
    Method,
    Native,
    StaticMethod,
)
from autodetach.machine.values import GradMode, Value

WITHOUT_CALL = frozenset({"abc.ABC", "typing.Generic", "typing.Protocol"})
"""Bases that give their classes no `__call__`."""

RECORDING = frozenset(
    "abc abstractmethod app atexit cached_property classmethod cli click contextmanager dataclass fire functools hydra "
    "lru_cache njit override property pytest staticmethod torch typer typing wraps".split()
)
"""The first words of decorators that do not turn gradients off, or of which the machine knows what they do."""


def linear_order(cls: Class) -> list[Class | External]:
    """Classes in the order of look-up: depth first, the last of repeated bases kept, as far as they are in view."""
    if cls.order is not None:
        return cls.order
    order: list[Class | External] = []
    _visit(cls, order)
    cls.order = order
    return order


def methods_of(cls: Class | External) -> Iterator[Function]:
    """The functions in view of a class and of those from which it derives, in the order of look-up."""
    for each in linear_order(cls) if isinstance(cls, Class) else ():
        if isinstance(each, Class):
            yield from (value for value in each.names.values() if isinstance(value, Function))


def declared_by(cls: Class, name: str) -> Iterator[Value]:
    """What a class and its bases in view have under a name, in the order of look-up."""
    return (c.names[name] for c in linear_order(cls) if isinstance(c, Class) and name in c.names)


def deriving_from(base: Class | External, classes: Iterable[Class]) -> Iterator[Class]:
    """Those of some classes that derive from another one."""
    return (cls for cls in classes if cls is not base and base in linear_order(cls))


def _visit(cls: Class | External, order: list[Class | External]) -> None:
    if cls in order:
        order.remove(cls)
    order.append(cls)
    if isinstance(cls, Class):
        for base in known_bases(cls):
            _visit(base, order)


def library_bases(cls: Class | External) -> list[str]:
    """Paths of the bases that are not in view, `object` left out."""
    if isinstance(cls, External):
        return [cls.path]
    return [c.path for c in linear_order(cls) if isinstance(c, External) and c.path != "builtins.object"]


def cannot_be_called(cls: Class | External) -> bool:
    """Whether a class that nobody in view gives a `__call__` certainly has none."""
    if isinstance(cls, External):
        return cls.path in WITHOUT_CALL
    if any(path not in WITHOUT_CALL for path in library_bases(cls)):
        return False
    own = [c for c in linear_order(cls) if isinstance(c, Class)]
    return not any("__call__" in c.names or len(c.bases) > len(known_bases(c)) for c in own)


def known_bases(cls: Class) -> list[Class | External]:
    return [base for base in cls.bases if isinstance(base, (Class, External))]


def code_of(value: Value) -> Function | None:
    """What runs where a value is called: a function in view, that of a method, of a `partial` or of an object."""
    if isinstance(value, (Method, StaticMethod, ClassMethod)):
        return code_of(value.function)
    if isinstance(value, Native):
        return code_of(value.this) if value.name == "partial" else None
    if isinstance(value, Instance) and isinstance(value.cls, Class):
        called = next(declared_by(value.cls, "__call__"), None)
        return None if isinstance(called, Instance) else code_of(called)
    return value if isinstance(value, Function) else None


def decorate(mode: GradMode, function: Function) -> Function:
    """The function run under a gradient mode."""
    wrapped = Function(
        function.node, function.frame, function.name, function.qualname, function.defaults, function.kwdefaults
    )
    wrapped.attrs = function.attrs
    wrapped.is_generator = function.is_generator
    wrapped.owner = function.owner
    wrapped.grad_mode = mode.enabled if isinstance(mode.enabled, bool) else None
    return wrapped
