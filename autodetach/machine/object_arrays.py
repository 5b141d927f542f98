"""Arrays of numpy that hold objects, `np.empty(n, dtype=object)`: they keep the graphs of the tensors put into them.

All other arrays refuse a tensor with history, or take its number:
https://numpy.org/doc/stable/reference/arrays.scalars.html#numpy.object_
"""

from __future__ import annotations

import ast

from autodetach.machine import elements
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.held import stored_in
from autodetach.machine.program_values import External
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import Opaque, Sequence, Slice, Sym, Value

MAKERS: dict[str, Value] = {
    "numpy.empty": None, "numpy.full": None, "numpy.ndarray": None, "numpy.ones": 1, "numpy.zeros": 0
}  # fmt: skip
"""What makes an array, each with what is in all its places then; `full` is given that."""
WRITERS = frozenset({"numpy.copyto", "numpy.place", "numpy.put", "numpy.putmask"})
OBJECTS = "#objects"
"""Marks such an array."""
PLACES = ("[]",)
"""Of such an array of one dimension: the list of what stands in its places."""
MOST_PLACES = 64


def call(m: Core, path: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Opaque | None:
    """What a function of numpy makes of objects: an array of them, or with such an array another object, if any."""
    if path in MAKERS and any(_is_of_objects(v) for v in (*args[1:], kwargs.get("dtype"))):
        array = m.opaque("array")
        array.attrs[OBJECTS] = True
        size = _size(args[0] if args else kwargs.get("shape"))
        if size is not None:
            value = args[1] if path == "numpy.full" and len(args) > 1 else kwargs.get("fill_value", MAKERS[path])
            known = isinstance(size, int) and 0 <= size <= MOST_PLACES
            places = Sequence("list", [value] * size if known and isinstance(size, int) else [value], m.clock, known)
            places.room = not known and is_constant(value)
            array.attrs[PLACES] = places
        return array
    if any(_is_array(v) for v in (*args, *kwargs.values())):
        if path in WRITERS and args:
            _forget(args[0])
        return m.call_unknown(path.rpartition(".")[2], args, kwargs, site)
    return None


def places(this: Opaque, index: Value) -> Sequence | None:
    """The list in which an index means one place of such an array, if it is one."""
    held = this.attrs.get(PLACES)
    is_place = isinstance(index, (int, Sym)) or (isinstance(index, Opaque) and index.name == "item")
    return held if isinstance(held, Sequence) and is_place else None


def set_places(m: Core, this: Opaque, index: Value, value: Value, source: ast.expr | None, site: Site) -> bool:
    """Write into such an array, `cells[k] = state` or `cells[:] = None`; whether the list has it in full."""
    held = places(this, index)
    if held is not None:
        elements.set_item(m, held, index, value, source, site)
        return True
    held = this.attrs.get(PLACES)
    if not isinstance(held, Sequence):
        return False
    is_whole = isinstance(index, Slice) and index.lower is index.upper is index.step is None
    if is_whole and is_constant(value):
        held.items[:] = [value] * len(held.items)
        return True
    if is_whole and isinstance(value, Sequence):
        elements.set_item(m, held, index, value, source, site)
        return True
    _forget(this)
    return False


def fill(this: Opaque, value: Value) -> None:
    """`cells.fill(None)`."""
    held = this.attrs.get(PLACES)
    if isinstance(held, Sequence):
        held.items[:] = [value] * len(held.items)


def elements_of(this: Opaque) -> list[Value]:
    """What has been put into such an array, each by its index."""
    held = this.attrs.get(PLACES)
    if isinstance(held, Sequence):
        return list(held.items)
    return stored_in(this) if OBJECTS in this.attrs else []


def _size(shape: Value) -> Value:
    """How many places an array of such a shape has, if that is one dimension; else None."""
    if isinstance(shape, Sequence) and len(shape.items) == 1 and shape.exact:
        shape = shape.items[0]
    return shape if isinstance(shape, (int, Sym)) else None


def _forget(this: Value) -> None:
    """Some of the places are written, nobody knows which."""
    held = this.attrs.get(PLACES) if isinstance(this, Opaque) else None
    if isinstance(held, Sequence):
        held.items.clear()
        held.exact = False


def _is_array(value: Value) -> bool:
    return isinstance(value, Opaque) and OBJECTS in value.attrs


def _is_of_objects(dtype: Value) -> bool:
    if isinstance(dtype, External):
        return dtype.path in ("builtins.object", "numpy.object_", "numpy.object")
    return dtype in ("O", "object") if isinstance(dtype, str) else False
