"""Arrays of numpy that hold objects, `np.empty(n, dtype=object)`: they keep the graphs of the tensors put into them.

All other arrays refuse a tensor with history, or take its number:
https://numpy.org/doc/stable/reference/arrays.scalars.html#numpy.object_
"""

from __future__ import annotations

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.held import stored_in
from autodetach.machine.values import External, Opaque, Value

MAKERS = frozenset({"numpy.empty", "numpy.full", "numpy.ndarray", "numpy.ones", "numpy.zeros"})
OBJECTS = "#objects"
"""Marks such an array."""


def call(m: Core, path: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Opaque | None:
    """What a function of numpy makes of objects: an array of them, or with such an array another object, if any."""
    if path in MAKERS and any(_is_of_objects(v) for v in (*args[1:], kwargs.get("dtype"))):
        array = m.opaque("array")
        array.attrs[OBJECTS] = True
        return array
    if any(_is_array(v) for v in (*args, *kwargs.values())):
        return m.call_unknown(path.rpartition(".")[2], args, kwargs, site)
    return None


def elements(this: Opaque) -> list[Value]:
    """What has been put into such an array, each by its index."""
    return stored_in(this) if OBJECTS in this.attrs else []


def _is_array(value: Value) -> bool:
    return isinstance(value, Opaque) and OBJECTS in value.attrs


def _is_of_objects(dtype: Value) -> bool:
    if isinstance(dtype, External):
        return dtype.path in ("builtins.object", "numpy.object_", "numpy.object")
    return dtype in ("O", "object") if isinstance(dtype, str) else False
