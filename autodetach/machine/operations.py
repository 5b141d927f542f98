"""Operations on tensors, by the table of operations: functions, methods, and operators of Python."""

from __future__ import annotations

import ast
from collections.abc import Iterable as Values

from autodetach.machine.added_values import note_sum
from autodetach.machine.arguments import constant, flatten, is_certain_number, spreads_unknown
from autodetach.machine.by_place import by_place
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.held import lost_by_arrays
from autodetach.machine.in_place import asks_in_place, in_place, scale_rows
from autodetach.machine.loss_weights import refuse_weight_of_call
from autodetach.machine.number_readers import marked
from autodetach.machine.other_types import made_of
from autodetach.machine.result_names import PAIR, result_names
from autodetach.machine.shapes import broadcast, shape_after, shape_of_product
from autodetach.machine.told_of_values import GIVEN, is_scalar
from autodetach.machine.torch_semantics import LIKE_ANOTHER, RANDOM, TAKES_TWO_TENSORS, Op, Saved, lookup, of_arguments
from autodetach.machine.values import Opaque, Sequence, Shape, Sym, Tensor, Value

CHOOSING = frozenset({"argmax", "argmin", "argsort", "bernoulli", "bucketize", "multinomial", "searchsorted"})
"""What picks by values: numbers that are no sums any more, by which something else is picked."""
TAKE_SIZES = frozenset({"view", "reshape"})
"""What is told how many dimensions to give by how many arguments there are."""

AT_LEAST = {"atleast_1d": 1, "atleast_2d": 2, "atleast_3d": 3}
"""How many dimensions they give. Of several tensors, or of a list, they make a tuple; a single one they give back."""


def operation(m: Core, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`torch.NAME(*args)`, `Tensor.NAME`, `F.NAME`: a function of tensors by the table of operations."""
    args, kwargs = by_place(name, args, kwargs)
    are_tensors(args)
    if any(type(a) is Sym and a.tags for a in args):
        made_of(m, args, site)
    if name in ("max", "min") and isinstance(args[1] if len(args) > 1 else kwargs.get("other"), (Tensor, Opaque)):
        name = {"max": "maximum", "min": "minimum"}[name]
    if name == "where" and len(args) == 1:
        return _places(m, args[0], site)
    if len(args) > 1 and name.rstrip("_") in TAKES_TWO_TENSORS and is_certain_number(args[1]):
        m.refuse(site, f"`{name}` of a tensor and a number", "TypeError")
    refuse_weight_of_call(m, name, args, kwargs, site)
    op = of_arguments(name, tuple(constant(a) for a in args), {k: constant(v) for k, v in kwargs.items()})
    if op.inplace and args and isinstance(args[0], Tensor):
        return in_place(m, args[0], name, [*args[1:], *kwargs.values()], site)
    if "dropout" in name and args and (kwargs.get("training", True) is False or _drops_nothing(args, kwargs)):
        return args[0]
    if asks_in_place(name, args, kwargs) and isinstance(args[0], Tensor):
        return in_place(m, args[0], name + "_", args[1:], site)
    if name in ("embedding", "embedding_bag") and len(args) > 1:
        scale_rows(m, args[1], kwargs.get("max_norm", args[3] if len(args) > 3 else None), site)
    inputs = flatten(args[:1] if name in LIKE_ANOTHER else [*args, *kwargs.values()])
    if name == "einsum" and sum(isinstance(v, (Tensor, Opaque)) for v in inputs) == 1:
        op = op._replace(saved=Saved.NOTHING)  # sums, diagonals and transpositions of one tensor
    if name in RANDOM:
        m.note_random(site)
    shape = None if name in TAKE_SIZES and spreads_unknown(site) else shape_after(op, name, args, kwargs)
    out = kwargs.get("out")
    if isinstance(out, Tensor) and not op.view:
        m.change_in_place(out, site)  # where an operand requires grad, most refuse
        if out.node is None and not any(getattr(v, "node", None) for v in args):
            return out
    first = args[0] if args else None
    is_float = (
        first.is_float if isinstance(first, Tensor) and op.differentiable else False if not op.differentiable else None
    )
    return outputs_of(m, name, op, inputs, args, kwargs, site, shape, is_float)


def _places(m: Core, of: Value, site: Site) -> Value:
    """`torch.where(mask)`: where it is true, one tensor for each dimension."""
    if not isinstance(of, Tensor):
        return m.opaque("indices")
    dims = 1 if of.shape is None else len(of.shape)
    places = [m.derive("nonzero", lookup("nonzero"), [of], site) for _ in range(max(dims, 1))]
    return Sequence("tuple", places, m.clock, exact=of.shape is not None)


def _drops_nothing(args: list[Value], kwargs: dict[str, Value]) -> bool:
    """`dropout(x, 0.0)` is `x` itself."""
    p = kwargs.get("p", args[1] if len(args) > 1 else None)
    return isinstance(p, (int, float)) and p == 0


def outputs_of(
    m: Core,
    name: str,
    op: Op,
    inputs: list[Value],
    args: list[Value],
    kwargs: dict[str, Value],
    site: Site,
    shape: Shape,
    is_float: bool | None,
) -> Value:
    has_dim = "dim" in kwargs or "axis" in kwargs or (len(args) > 1 and isinstance(args[1], (int, Sym)))
    pair = (
        op.outputs == "pair"
        or (op.outputs == "reduce2" and has_dim)
        or (op.outputs == "indices" and kwargs.get("return_indices") is True)
    )
    result = m.derive(name, op, inputs, site, shape, is_float=is_float, indexed=pair)
    if name in CHOOSING and type(result) is Tensor:
        marked(result, *inputs)
    if pair:
        places = Tensor(None, None, False)
        marked(places, *inputs)
        return _named(name, Sequence("tuple", [result, places], m.clock), PAIR)
    if op.outputs == "each":
        if name in AT_LEAST and len(args) == 1 and isinstance(args[0], (Tensor, Opaque)):
            one = args[0]
            return result if isinstance(one, Opaque) or _has_fewer(one, AT_LEAST[name]) else one
        return Sequence("tuple", [m.derive(name, op, [v], site) for v in inputs], m.clock)
    if op.outputs == "many" or (isinstance(op.outputs, int) and op.outputs > 1):
        count = op.outputs if isinstance(op.outputs, int) else _chunks(name, args, kwargs)
        parts = [_sibling(m, result) for _ in range(count or 3)]
        return _named(name, Sequence("tuple", parts, m.clock, exact=count is not None))
    return result


def _has_fewer(this: Tensor, dimensions: int) -> bool:
    return this.shape is not None and len(this.shape) < dimensions


def _named(name: str, parts: Sequence, otherwise: tuple[str, ...] = ()) -> Sequence:
    """What an operation returns, whose parts have names."""
    parts.attrs.update(zip(result_names(name) or otherwise, parts.items, strict=False))
    return parts


def _sibling(m: Core, result: Tensor) -> Tensor:
    """Another output of the same node."""
    other = Tensor(result.node, None, result.is_float, result.storage)
    other.view_of = result.view_of
    other.born = m.clock
    return other


def _chunks(name: str, args: list[Value], kwargs: dict[str, Value]) -> int | None:
    t = args[0] if args else None
    shape = t.shape if isinstance(t, Tensor) else None
    given = args[1] if len(args) > 1 else next(iter(kwargs.values()), None)
    dim = kwargs.get("dim", args[2] if len(args) > 2 else args[1] if name == "unbind" and len(args) > 1 else 0)
    if name == "chunk" and isinstance(given, int) and 0 < given <= 16:
        return given
    if name in ("split", "tensor_split") and isinstance(given, Sequence) and given.exact:
        return len(given.items)
    if shape is not None and isinstance(dim, int) and -len(shape) <= dim < len(shape):
        size = shape[dim]
        if isinstance(size, int) and 0 < size <= 16:
            if name == "unbind":
                return size
            if name == "split" and isinstance(given, int) and given > 0:
                return -(-size // given)
    return None


def operator(m: Core, name: str, left: Value, right: Value, site: Site) -> Value:
    """A Python operator with a tensor on one side at least; `right` is None for unary ones."""
    unary = right is None and not isinstance(site.node, (ast.BinOp, ast.AugAssign))
    if not unary and (left is None or right is None):
        m.refuse(site, "computes with None", "TypeError")
    inputs = [left] if unary else [left, right]
    are_tensors(inputs)
    if isinstance(right, (str, bytes)) or isinstance(left, (str, bytes)):
        return m.fresh("str")
    op = lookup(name)
    tensors = [v for v in inputs if isinstance(v, Tensor)]
    if any(t.from_grad for t in tensors):
        m.of_gradient.append(site)
    shape = broadcast(inputs)
    if name == "matmul":
        shape = shape_of_product(inputs)
    if name in ("div", "pow") and not isinstance(left, (Tensor, Opaque)):
        # `1 / x` and `2 ** x`: the reciprocal saves its result.
        op = Op(Saved.RESULT, op.shape)
        inputs = tensors
    is_float = None if not tensors else any(t.is_float for t in tensors) or None
    return m.derive(name, op, inputs, site, shape, is_float=is_float)


def are_tensors(values: Values[Value]) -> None:
    """Note that an operation on tensors takes these."""
    for value in values:
        if isinstance(value, Opaque):
            value.attrs.pop(GIVEN, None)


def opaque_operator(m: Core, name: str, left: Value, right: Value, site: Site) -> Opaque:
    """As `operator`, for values that may be tensors."""
    result = m.opaque(name)
    sides = [v for v in (left, right) if isinstance(v, (Tensor, Opaque))]
    are_tensors(sides)
    carriers = [v for v in sides if v.node is not None]
    if carriers and m.grad_enabled:
        saves = lookup(name).saved is not Saved.NOTHING
        parents = tuple(dict.fromkeys(c.node for c in carriers if c.node is not None))
        result.node = m.new_node(
            name, site, parents, tuple(carriers), saves=saves, weak=all(p.weak for p in parents),
            assumed=any(isinstance(c, Opaque) for c in carriers),
        )  # fmt: skip
        note_sum(m, name, result.node, sides)
    scalars = [v for v in sides if v.node is not None or is_scalar(v)]
    result.scalar = bool(scalars) and all(v.scalar if isinstance(v, Opaque) else v.shape == () for v in scalars)
    result.lost = lost_by_arrays(left, right)
    return result
