"""What classes add to the objects of those from which they derive: `train` of a base class prints `self.name`.

An object of the base that is made to call its methods stands for those of all others.
"""

from __future__ import annotations

from collections.abc import Iterable

from autodetach.machine.classes import linear_order
from autodetach.machine.filled_later import set_in
from autodetach.machine.values import Class, External, Function


def is_added(classes: Iterable[Class], base: Class | External, name: str) -> bool:
    """Whether one of the classes derives from the base, and has or sets the attribute."""
    return any(cls is not base and base in linear_order(cls) and _makes(cls, name) for cls in classes)


def _makes(cls: Class, name: str) -> bool:
    return name in cls.names or any(
        name in set_in(method.node) for method in cls.names.values() if isinstance(method, Function)
    )
