"""The shapes of tensors, as far as they are known: sizes by dimension, None for a size or a shape that is not."""

from __future__ import annotations

from autodetach.machine.arguments import flatten
from autodetach.machine.loss_options import is_reduced, options_of_call
from autodetach.machine.told_of_values import is_number
from autodetach.machine.torch_semantics import Op
from autodetach.machine.torch_semantics import Shape as Rule
from autodetach.machine.values import Opaque, Sequence, Shape, Slice, Sym, Tensor, Value


def shape_of_arguments(args: list[Value]) -> Shape:
    """`zeros(2, 3)`, `zeros((2, 3))`, `zeros(size)`; not known where the size is given by a name.

    A list with nothing in it may have been filled on a way that nobody knows.
    """
    if not args:
        return None
    if len(args) == 1 and isinstance(args[0], Sequence):
        size = args[0]
        if not size.exact or (size.kind == "list" and not size.items):
            return None
        args = size.items
    elif len(args) == 1 and not is_number(args[0]):
        return None
    return tuple(a if isinstance(a, int) else None for a in args)


def shape_of_data(value: Value) -> Shape:
    """`tensor(data)`: of a list, not known where one of its elements may have other dimensions than the others."""
    return _shape_within(value, {})


def _shape_within(value: Value, known: dict[int, Shape]) -> Shape:
    """The same for a part of data: each list is looked at once, by its `id`, also one that holds itself."""
    if is_number(value):
        return ()
    if not isinstance(value, Sequence):
        return value.shape if isinstance(value, Tensor) else None
    if not value.items:
        return (0,) if value.exact else None
    if id(value) not in known:
        known[id(value)] = None
        inner = _shape_of_all([_shape_within(item, known) for item in value.items])
        known[id(value)] = None if inner is None else (len(value.items) if value.exact else None, *inner)
    return known[id(value)]


def shape_of_old_type(args: list[Value]) -> Shape:
    """`FloatTensor([1.0, 2.0])` is given data, `FloatTensor(2, 3)` sizes; a tuple may be either."""
    if len(args) == 1 and isinstance(args[0], Sequence):
        return shape_of_data(args[0]) if args[0].kind == "list" else None
    return shape_of_arguments(args)


def shape_of_row(shape: Shape) -> Shape:
    """`t[i]`, `for row in t`; a tensor of which nothing is known to be in it has none for certain."""
    return shape[1:] if shape and shape[0] != 0 else None


def _shape_of_all(shapes: list[Shape]) -> Shape:
    """The shape that all have; not known where they differ in their dimensions, or one of them is not known."""
    first = shapes[0]
    if first is None or all(shape == first for shape in shapes):
        return first
    if any(shape is None or len(shape) != len(first) for shape in shapes):
        return None
    return tuple(sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*(s or () for s in shapes), strict=True))


def broadcast(values: list[Value]) -> Shape:
    """The shape that tensors and numbers have together; a size that only one of them may have is not known."""
    result: tuple[int | None, ...] = ()
    for value in values:
        if is_number(value):
            continue
        shape = value.shape if isinstance(value, Tensor) else None
        if isinstance(value, Opaque) and value.scalar:
            shape = ()
        if shape is None:
            return None
        longer, shorter = (result, shape) if len(result) >= len(shape) else (shape, result)
        padded = (1,) * (len(longer) - len(shorter)) + shorter
        result = tuple(b if a == 1 else a if b == 1 or a == b else None for a, b in zip(longer, padded, strict=True))
    return result


def shape_of_product(values: list[Value]) -> Shape:
    """`a @ b`, for the first two of the values."""
    a, b = [*(v.shape if isinstance(v, Tensor) else None for v in values[:2]), None, None][:2]
    if not a or not b or 0 in a or 0 in b:
        return None
    if len(b) == 1:
        return a[:-1]
    if len(a) == 1:
        return (*b[:-2], b[-1])
    return (*a[:-1], b[-1])


def shape_of_part(shape: Shape, parts: list[Value]) -> Shape:
    """`t[parts]`: numbers, slices, None and `...`; not known where a tensor or a mask is among them."""
    if shape is None:
        return None
    left = list(shape)
    result: list[int | None] = []
    if any(p is Ellipsis for p in parts):
        at = next(i for i, p in enumerate(parts) if p is Ellipsis)
        fill = len(shape) - sum(1 for p in parts if p is not None and p is not Ellipsis)
        parts = [*parts[:at], *[Slice(None, None, None)] * max(fill, 0), *parts[at + 1 :]]
    for p in parts:
        if p is None:
            result.append(1)
            continue
        if not left:
            return None
        size = left.pop(0)
        if isinstance(p, Slice):
            whole = p.lower is None and p.upper is None and p.step is None
            bounds = (p.lower, p.upper, p.step)
            if whole:
                result.append(size)
            elif size is not None and all(b is None or isinstance(b, int) for b in bounds) and p.step != 0:
                result.append(len(range(size)[slice(*bounds)]))
            else:
                result.append(None)
        elif size == 0 or isinstance(p, bool) or not (is_number(p) or isinstance(p, Sym)):
            return None  # from nothing nothing is taken; True and False add a dimension
    return (*result, *left)


def shape_after(op: Op, name: str, args: list[Value], kwargs: dict[str, Value]) -> Shape:
    """The shape of what an operation gives: by its row in the table of operations, or by its name."""
    first = args[0] if args else kwargs.get("input")
    shape = first.shape if isinstance(first, Tensor) else None
    if op.shape is Rule.SAME:
        return shape
    if op.shape is Rule.SCALAR:
        return ()
    if "**" in kwargs:  # it is not known what else is given
        return None
    if op.shape is Rule.BROADCAST:
        given = (*args, *(v for key, v in kwargs.items() if key != "out"))
        return broadcast([v for v in given if isinstance(v, (Tensor, Opaque)) or is_number(v)])
    if op.shape is Rule.LOSS:
        return () if is_reduced(options_of_call(name, args, kwargs)) else None
    if op.shape is Rule.REDUCE:
        return _reduced(op, shape, args, kwargs)
    if name in ("matmul", "mm", "mv", "bmm"):
        return shape_of_product(args)
    if name == "linear" and shape is not None and len(args) > 1 and isinstance(args[1], Tensor) and args[1].shape:
        return (*shape[:-1], args[1].shape[0])
    if name in ("t", "transpose", "permute", "swapaxes") and shape is not None:
        return shape[::-1] if name == "t" or len(shape) == 2 else (None,) * len(shape)
    if name in ("view", "reshape") and len(args) > 1:
        dims = shape_of_arguments(args[1:])
        return None if dims is None else tuple(None if d == -1 else d for d in dims)
    if name == "unsqueeze" and shape is not None and len(args) > 1 and isinstance(args[1], int):
        at = args[1] if args[1] >= 0 else len(shape) + 1 + args[1]
        return (*shape[:at], 1, *shape[at:])
    if name == "squeeze" and shape == ():
        return ()
    if name == "squeeze" and shape is not None and len(args) > 1 and isinstance(args[1], int):
        at = args[1] % len(shape)
        return None if shape[at] is None else (*shape[:at], *shape[at + 1 :]) if shape[at] == 1 else shape
    if name == "stack":
        parts = flatten([first]) if isinstance(first, Sequence) else []
        inner = _shape_of_all([p.shape if isinstance(p, Tensor) else None for p in parts]) if parts else None
        is_first = kwargs.get("dim", args[1] if len(args) > 1 else 0) == 0
        return None if inner is None else (None, *inner) if is_first else (None,) * (len(inner) + 1)
    if name == "dot":
        return ()
    return None


def _reduced(op: Op, shape: Shape, args: list[Value], kwargs: dict[str, Value]) -> Shape:
    dim = kwargs.get("dim", kwargs.get("axis", args[op.dim_at] if len(args) > op.dim_at else None))
    if dim is None or (isinstance(dim, bool) and op.dim_at == 1):
        return ()
    if not isinstance(dim, int) or shape is None or not -len(shape) <= dim < len(shape):
        return None
    at = dim % len(shape)
    if shape[at] == 0:
        return None
    keep = kwargs.get("keepdim", kwargs.get("keepdims", args[op.dim_at + 1] if len(args) > op.dim_at + 1 else False))
    if keep is True:
        return (*shape[:at], 1, *shape[at + 1 :])
    return (*shape[:at], *shape[at + 1 :]) if keep is False else None
