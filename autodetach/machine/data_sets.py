"""Data sets: what they read and sort out is no part of training, and they often cannot be followed to the end.

Where their constructor, or what gives an example, ends by an error that Python raises and no `raise` of the program,
nearly always it is a file, or what is in it, of which too much was assumed. The program goes on with what is not known.
"""

from __future__ import annotations

from collections.abc import Callable

from autodetach.machine.classes import library_bases
from autodetach.machine.core import Core
from autodetach.machine.program_values import Class, Instance
from autodetach.machine.state import Raised
from autodetach.machine.swallowing import is_taken
from autodetach.machine.values import Mapping, Sequence, Value

BASES = frozenset({"Dataset", "IterableDataset"})


def is_data_set(cls: Class) -> bool:
    """Whether a class derives from `torch.utils.data.Dataset`, or its like."""
    return any(path.startswith("torch.utils.data") and path.rpartition(".")[2] in BASES for path in library_bases(cls))


def made(m: Core, this: Instance, initialise: Callable[[], Value]) -> None:
    """Run the constructor of a data set; what it has not come to is not known."""
    if _ended(m, initialise) is None:
        return
    this.open = True
    for value in this.attrs.values():
        if isinstance(value, (Sequence, Mapping)):
            value.exact = False


def example(m: Core, get: Callable[[], Value]) -> Value:
    """What a data set gives, or something unknown. Raises Raised where the program itself does."""
    result: list[Value] = []
    return m.opaque("example") if _ended(m, lambda: result.append(get())) is not None else result[0]


def _ended(m: Core, work: Callable[[], object]) -> Raised | None:
    """The error of Python's that ended some work, if nothing of the program is ready for it."""
    faults = len(m.type_faults)
    try:
        work()
    except Raised as error:
        if error.value is not None or is_taken(m, error.name):
            raise
        del m.type_faults[faults:]
        return error
    return None
