"""What classes add to the objects of those from which they derive: `train` of a base class prints `self.name`.

An object of the base that is made to call its methods stands for those of all others.
"""

from __future__ import annotations

from collections.abc import Iterable

from autodetach.machine.classes import deriving_from
from autodetach.machine.program_values import Class, External, Function


def is_added(classes: Iterable[Class], base: Class | External, name: str) -> bool:
    """Whether one of the classes derives from the base, and has or sets the attribute."""
    return any(_makes(cls, name) for cls in deriving_from(base, classes))


def _makes(cls: Class, name: str) -> bool:
    from autodetach.machine.filled_later import set_in

    return name in cls.names or any(
        name in set_in(method.node) for method in cls.names.values() if isinstance(method, Function)
    )
