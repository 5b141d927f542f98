"""Tensors from nothing, and from data: `torch.zeros`, `torch.tensor`, `Variable`."""

from __future__ import annotations

import ast

from autodetach.machine import dtypes
from autodetach.machine.arguments import spreads_unknown, written_at
from autodetach.machine.by_place import by_place
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.held import lost_by_copy
from autodetach.machine.number_places import handed
from autodetach.machine.number_readers import made_of_sums, wanted
from autodetach.machine.other_types import made_of
from autodetach.machine.shapes import shape_of_arguments, shape_of_data, shape_of_old_type
from autodetach.machine.told_of_values import is_number
from autodetach.machine.torch_semantics import RANDOM
from autodetach.machine.values import Opaque, Sequence, Tensor, Value

TENSOR_CLASSES = frozenset(
    "Tensor FloatTensor DoubleTensor LongTensor IntTensor ByteTensor BoolTensor HalfTensor".split()
)

OF_VALUES = frozenset({"tensor", "as_tensor", "asarray", "scalar_tensor", "from_numpy"})
"""What makes a tensor of the values that it is given."""
MAX_DIMENSIONS = 128
"""For more levels of lists, `torch.tensor` raises `too many dimensions` (torch/csrc/utils/tensor_new.cpp)."""


def factory(m: Core, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """A new tensor without history, as `torch.zeros(3)` makes one, or a leaf where it is to require grad."""
    args, kwargs = by_place(name, args, kwargs)
    if name in RANDOM:
        m.note_random(site)
    if name in ("as_tensor", "asarray") and args and isinstance(args[0], Tensor):
        return args[0]
    handed(m, name, args, kwargs, site)
    first = args[0] if args else None
    is_float: bool | None = None
    if name in OF_VALUES:
        # What stands in a container may have been replaced under a key that nobody knows.
        shape = None if isinstance(written_at(site, 0), ast.Subscript) and is_number(first) else shape_of_data(first)
        if name not in ("from_numpy", "scalar_tensor") and kwargs.get("dtype") is None:
            made_of(m, args[:1], site)
        number = _first_number(first)
        is_float = True if isinstance(number, float) else False if isinstance(number, int) else None
    elif name.endswith("_like") and isinstance(first, Tensor):
        shape, is_float = first.shape, True if name.startswith("randn") else first.is_float
    elif name == "full":
        shape = shape_of_arguments([kwargs["size"]] if "size" in kwargs else args[:1])
    elif name in ("randint",):
        size = kwargs.get("size", args[-1] if args else None)
        shape, is_float = shape_of_arguments([size]) if size is not None else None, False
    elif name in ("arange", "randperm", "range"):
        shape, is_float = ((first,) if len(args) == 1 and isinstance(first, int) else (None,)), False
        if any(isinstance(a, float) for a in args):
            is_float = True
    elif name in ("linspace", "logspace"):
        count = args[2] if len(args) > 2 else kwargs.get("steps", 100)
        shape, is_float = (count if isinstance(count, int) else None,), True
    elif name == "normal":
        size = kwargs.get("size", args[2] if len(args) > 2 else None)
        shape, is_float = shape_of_arguments([size]) if size is not None else None, True
    elif name == "eye":
        shape, is_float = (first, first) if isinstance(first, int) else None, True
    else:
        size = kwargs.get("size")
        sizes = [size] if size is not None else args
        if name in TENSOR_CLASSES and size is None:
            shape = shape_of_old_type(args)
        else:
            shape = shape_of_arguments(sizes) if sizes and not name.endswith("_indices") else None
        written = written_at(site, 0)
        if isinstance(written, ast.List) and not written.elts:
            shape = (0,) if name in TENSOR_CLASSES else ()
        if spreads_unknown(site):
            shape = None
        is_float = name in ("rand", "randn", "zeros", "ones", "empty") or None
    if kwargs.get("dtype") is not None:
        is_float = dtypes.is_floating(kwargs["dtype"])
    result = Tensor(None, shape, is_float)
    result.born = m.clock
    made_of_sums(m, result, [*args, *kwargs.values()])
    if name in TENSOR_CLASSES or name in OF_VALUES:
        result.lost = lost_by_copy(first, site)
    wants = kwargs.get("requires_grad", False)
    if wants is not False and m.truth(wants, site, default=False):
        m.require_grad(result, site)
    return result


def _first_number(data: Value) -> Value:
    """The first one in lists of lists, as deep as PyTorch looks into them: a list may hold itself."""
    for _ in range(MAX_DIMENSIONS):
        if not isinstance(data, Sequence) or not data.items:
            return data
        data = data.items[0]
    return None


def variable(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`Variable(x)` is `x.detach()`, and with `requires_grad=True` a new leaf, since PyTorch 0.4."""
    value = args[0] if args else kwargs.get("data")
    wanted(m, [value], site, "Variable")
    wants = kwargs.get("requires_grad", args[1] if len(args) > 1 else False)
    if not isinstance(value, (Tensor, Opaque)):
        return value
    if wants is True and isinstance(value, Opaque):
        return m.leaf(site)
    result = m.call_method(value, "detach", [], {}, site)
    return m.require_grad(result, site) if wants is True and isinstance(result, Tensor) else result
