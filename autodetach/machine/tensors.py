"""What happens to a tensor: its attributes, methods, subscripts, and changes in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine import dtypes
from autodetach.machine.arguments import flatten, spreads_unknown
from autodetach.machine.core import Core
from autodetach.machine.differentiation import differentiate_call, may_have_reached
from autodetach.machine.events import DataRead, NonLeafGrad, UnreachedGrad, ViewDetached
from autodetach.machine.graph import ARRAY, DETACHED, NUMBER, Site, Storage
from autodetach.machine.graph_reads import note_flag, note_read
from autodetach.machine.held import also_lost, lost_by_copy, lost_from, weights_of
from autodetach.machine.in_place import in_place
from autodetach.machine.kept_numbers import is_kept
from autodetach.machine.number_places import handed
from autodetach.machine.number_readers import made_of_sums, tags_of, wanted
from autodetach.machine.operations import operation, operator
from autodetach.machine.passed_counts import least, note_counted
from autodetach.machine.program_values import Iterable, Native
from autodetach.machine.restraints import RetainedRead
from autodetach.machine.shapes import shape_of_arguments, shape_of_data, shape_of_old_type, shape_of_part, shape_of_row
from autodetach.machine.sizes import size_at
from autodetach.machine.state import MISSING
from autodetach.machine.steering import taken, weighed
from autodetach.machine.sure_views import is_view
from autodetach.machine.swallowing import expects_fault
from autodetach.machine.torch_semantics import (
    EFFECTS,
    INPLACE_EXCEPTIONS,
    NUMBER_METHODS,
    OPERATORS,
    TENSOR_ATTRIBUTES,
    lookup,
)
from autodetach.machine.values import SIZES, Opaque, Sequence, Shape, Sym, Tensor, Value, gradients_in, marked_in

WITHOUT_DIMENSION = "#without dimension"
"""What an array has as an attribute that was made of a tensor without dimensions."""
MOVES = frozenset("to cuda cpu float double half bfloat16 type type_as contiguous pin_memory requires_grad_".split())


def plain(shape: Shape = None, is_float: bool | None = None, storage: Storage | None = None) -> Tensor:
    return Tensor(None, shape, is_float, storage)


# ---- attributes


def attribute(m: Core, t: Tensor, name: str, site: Site) -> Value:
    """Read an attribute of a tensor, or of its class; MISSING where it has none of that name."""
    if name == "data":
        result = plain(t.shape, t.is_float)  # PyTorch gives `.data` a version counter of its own
        result.data_of = t
        _without_history(m, result, t, site)
        return result
    if name == "grad":
        return _read_grad(m, t, site)
    if name == "shape":
        return _sizes(m, t)
    if name == "ndim":
        return _count(m, t, name, 0) if t.shape is None else len(t.shape)
    if name in ("requires_grad", "is_leaf"):
        answer = t.node is not None if name == "requires_grad" else t.is_leaf
        note_flag(m, name, answer, site)
        return answer
    if name == "_version":
        return t.storage.version
    if name == "grad_fn":
        note_read(m, t, site)
        return None if t.is_leaf else m.opaque("grad_fn")
    if name in ("T", "mT", "H", "mH", "real", "imag"):
        shape = t.shape[::-1] if t.shape is not None and name == "T" else None
        return m.derive(name, lookup("t"), [t], site, shape)
    if name in ("device", "dtype", "layout", "names", "is_cuda", "is_sparse"):
        return m.sym(("tensor", name), "")
    if name in TENSOR_ATTRIBUTES:
        return Native(name, lambda args, kwargs, s: method(m, t, name, args, kwargs, s), t)
    if t.extras is None or name not in t.extras:
        return MISSING
    m.tell_apart(t)
    return t.extras[name]


def _sizes(m: Core, t: Tensor) -> Value:
    """The shape: what is not known of it is the same each time that one asks."""
    if t.sizes is None and t.shape is None:
        t.sizes = m.fresh(SIZES, lo=1)
    elif t.sizes is None:
        t.sizes = Sequence("tuple", [m.fresh("number", lo=1) if d is None else d for d in t.shape or ()], m.clock)
    return t.sizes


def _count(m: Core, t: Tensor, name: str, least: int) -> Value:
    """How many dimensions or elements a tensor has, where its shape does not tell."""
    sizes = _sizes(m, t)
    return m.sym((name, m.key(sizes)), "number", least, sizes.tags if isinstance(sizes, Sym) else frozenset())


def _read_grad(m: Core, t: Tensor, site: Site) -> Value:
    node = t.leaf_node if t.node is None else t.node  # what is frozen for a while keeps its gradient
    if node is None or not node.leaf:
        since = t.retains_since
        note_flag(m, "grad", since is not None, site)
        if since is not None and t.grad is None and node is not None:
            if any(d.number > since for d in node.walked_by):
                t.grad = plain(t.shape, True)
                t.grad.from_grad = tuple(d for d in node.walked_by if d.number > since)
            if isinstance(t.grad, Tensor):
                m.restraints.append(RetainedRead(site, t.grad.from_grad))
            return m.opaque("grad") if t.grad is None and may_have_reached(m) else t.grad
        if t.grad is None:
            m.facts.append(NonLeafGrad(site, t))
        return t.grad
    if not node.grads:
        if t.grad is None and may_have_reached(m):
            return m.opaque("grad")
        if t.grad is None:
            m.facts.append(UnreachedGrad(site, node, m.tick()))
        return t.grad
    if t.grad is None:
        t.grad = plain(t.shape, True)
        t.grad.grad_of = t
    is_given = isinstance(t.grad, Tensor) and t.grad.grad_of is not t and t.grad.from_grad == tuple(node.grads)
    if isinstance(t.grad, Tensor) and t.grad.from_grad != tuple(node.grads):
        t.grad.from_grad = tuple(node.grads)
    if not is_given and any(d.create_graph for d in node.grads) and m.grad_enabled:
        roots = tuple(dict.fromkeys(r for d in node.grads if d.create_graph for r in d.roots))
        t.grad = plain(t.shape, True)
        t.grad.grad_of = t
        t.grad.from_grad = tuple(node.grads)
        t.grad.node = m.new_node("grad", site, (*roots, node), (t,), saves=True)
    m.steps_read(t, site)
    return t.grad


def set_attribute(m: Core, t: Tensor, name: str, new: Value, site: Site) -> None:
    if name in ("grad", "data"):
        wanted(m, [new], site, name)
        taken(m, [new], site)
    if name == "grad":
        node = t.leaf_node if t.node is None else t.node
        if new is None and node is not None:
            m.clear(node)
            if t.retains_since is not None:
                t.retains_since = m.clock
        elif isinstance(new, Tensor) and new.from_grad and node is not None and node.leaf:
            node.grads = list(new.from_grad)  # for an optimizer to step with
        t.grad = new
    elif name == "data":
        by_grad = gradients_in(flatten([new]))
        if by_grad and t.node is not None and t.node.leaf:
            m.steps_read(t, site, "update", by_grad)
        m.tell_apart(t)  # what was made of it by `detach()` keeps the memory that it had
    elif name == "requires_grad":
        set_requires_grad(m, t, new, site)
    elif name not in TENSOR_ATTRIBUTES:
        t.extras = (t.extras or {}) | {name: new}


OF_LEAVES = "flag"
"""The kind of a fault: only leaves may be told not to require grad any more."""


def set_requires_grad(m: Core, t: Tensor, flag: Value, site: Site) -> None:
    if flag is False:
        if t.node is not None and t.node.leaf:
            t.node.frozen = True
            t.node = None
        elif t.node is not None and not (t.node.weak or t.node.assumed or expects_fault(m)):
            m.type_fault(site, "changes a flag of what is no leaf", OF_LEAVES)
    elif (t.node is None or t.node.weak) and t.is_float is not False:
        m.require_grad(t, site)


# ---- methods


def _without_history(m: Core, result: Tensor, t: Tensor, site: Site) -> None:
    """What is known of the values of a tensor, of another one that has them without its history."""
    result.from_grad, result.scaled = t.from_grad, t.scaled
    result.lost = lost_from(t, site, DETACHED)
    result.weights = weights_of(t, site, m.loops)


def method(m: Core, t: Tensor, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """Call a method of a tensor: what comes of it, with a node where autograd would make one."""
    if args or kwargs:
        handed(m, name, [t, *args], kwargs, site)
    if name == "backward":
        return _backward(m, t, args, kwargs, site)
    if name == "detach":
        result = plain(t.shape, t.is_float, t.storage)
        result.order = t.order
        result.born = m.clock
        _without_history(m, result, t, site)
        m.let_go(t.node, result, site)
        return result
    if name == "detach_":
        if is_view(t):
            m.type_fault(site, "detaches a view in place", "view")
            if not (expects_fault(m) or (t.node is not None and (t.node.weak or t.node.assumed))):
                m.facts.append(ViewDetached(site, t.node))
        m.cut[t] = m.clock
        t.lost = lost_from(t, site, DETACHED)
        t.node = None
        return t
    if name == "requires_grad_":
        set_requires_grad(m, t, args[0] if args else kwargs.get("requires_grad", True), site)
        return t
    if name == "type" and not args and not kwargs:
        return m.fresh("str")
    if name == "is_floating_point":
        return is_floating(m, t)
    if name in NUMBER_METHODS:
        return _number(m, t, name, args, site)
    if name in EFFECTS:
        if name == "retain_grad":
            if t.node is None:
                m.type_fault(site, "calls `retain_grad` of what does not require grad", "hook")
            t.retains_since = m.clock
        if name.startswith("register_"):
            return m.opaque(name)
        return t if name.endswith("_") else None
    if t.node is not None and name in dtypes.TAKING_TYPES and dtypes.is_cast_to_integers(name, args, kwargs):
        return operation(m, "long", [t], {}, site)
    if name in MOVES and (t.node is None or t.node.leaf):
        if t.node is not None:
            t.node.moved = True
            return t  # a move to where it is gives the leaf itself
        is_float, is_cast = dtypes.after_cast(t, name, args, kwargs)
        in_order = name == "contiguous" and bool(t.order)
        moved = plain(t.shape, is_float, None if is_cast or in_order else t.storage)
        moved.order = "" if in_order else t.order
        moved.data_of = t.data_of
        moved.from_grad, moved.scaled = t.from_grad, t.scaled
        moved.lost, moved.extras = t.lost, marked_in([t])
        moved.weights = t.weights
        note_counted(moved, name, [t])
        return moved
    if name in INPLACE_EXCEPTIONS:
        return t
    if name not in TENSOR_ATTRIBUTES:
        return m.call_unknown_method(t, name, args, kwargs, site)
    if name.endswith("_") and not name.endswith("__"):
        return in_place(m, t, name, [*args, *kwargs.values()], site)
    if name in ("new_tensor", "new_full"):
        made = plain(shape_of_data(args[0]) if args and name == "new_tensor" else shape_of_arguments(args[:1]))
        made.lost = lost_by_copy(args[0], site) if args and name == "new_tensor" else ()
        return made
    if name in ("new_zeros", "new_ones", "new_empty", "new"):
        of_args = shape_of_old_type if name == "new" else shape_of_arguments
        return plain(None if spreads_unknown(site) else of_args(args))
    return operation(m, name, [t, *args], kwargs, site)


def is_made_so(scalar: Tensor) -> bool:
    """Whether a 0-dim tensor is no part of one that has dimensions, as far as is known: `loss.squeeze()` is none."""
    base = scalar.view_of
    while base is not None and base.shape == ():
        base = base.view_of
    return base is None


def is_floating(m: Core, t: Tensor) -> Value:
    """Whether a tensor has a floating point dtype: only such a one can have history."""
    known = True if t.node is not None else t.is_float
    return m.fresh("bool") if known is None else known


def _number(m: Core, t: Tensor, name: str, args: list[Value], site: Site) -> Value:
    if name == "item":
        if t.data_of is not None and t.shape == ():
            node = site.node
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                inner = node.func.value
                if isinstance(inner, ast.Attribute) and inner.attr == "data":
                    m.facts.append(DataRead(site, t, raises=False))
        if m.trail and is_kept(m.trail[-1][0], site.node):
            t.storage.kept += (Site(site.node, site.scope),)  # without what was read, which has the storage
        tags = tags_of(t, site)
        number = m.fresh("number", least(tags), tags)
        number.lost = lost_from(t, site, NUMBER)
        return number
    if name == "numpy":
        if t.node is not None:
            m.type_fault(site, "calls `numpy()` on a tensor that requires grad", "numpy")
        array = m.opaque("array")
        array.lost = also_lost(t.lost, site, ARRAY)
        if t.node is None and t.shape == ():
            array.attrs[WITHOUT_DIMENSION] = t
        return array
    if name in ("size", "shape"):
        sizes = _sizes(m, t)
        if not args:
            return sizes
        if isinstance(args[0], int) and isinstance(sizes, Sequence) and -len(sizes.items) <= args[0] < len(sizes.items):
            return sizes.items[args[0]]
        return size_at(m, sizes, args[0])
    if name in ("dim", "ndimension"):
        return attribute(m, t, "ndim", site)
    if name in ("numel", "nelement"):
        if t.shape is not None and None not in t.shape:
            count = 1
            for d in t.shape:
                count *= d or 0
            return count
        sizes = _sizes(m, t)
        return _count(m, t, "numel", 0 if isinstance(sizes, Sym) and sizes.lo == 0 else 1)
    if name == "tolist":
        return _numbers(m, t, site)
    return m.fresh("number" if name in ("element_size", "data_ptr", "storage_offset") else "")


def _numbers(m: Core, t: Tensor, site: Site) -> Value:
    """What `tolist()` gives: numbers in a list, if there is one dimension; a number if there is none."""
    if t.shape == () and is_made_so(t):
        return m.fresh("number", tags=frozenset({site.node}))
    if t.shape is None or len(t.shape) != 1:
        return m.opaque("list")
    size = t.shape[0]
    exact = size is not None and size <= 16
    return Sequence(
        "list", [m.fresh("number") for _ in range(size if exact and size is not None else 3)], m.clock, exact
    )


def _backward(m: Core, t: Tensor, args: list[Value], kwargs: dict[str, Value], site: Site) -> None:
    call = site.node
    assert isinstance(call, ast.Call)
    root = call.func.value if isinstance(call.func, ast.Attribute) else None
    differentiate_call(m, [t], args[1:], kwargs, call, site, root)


def unbound(m: Core, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`torch.Tensor.backward(loss)`: a method that is looked up in its class."""
    call = site.node
    if name == "backward" and isinstance(call, ast.Call):
        root = call.args[0] if call.args else None
        differentiate_call(m, args[:1], args[2:], kwargs, call, site, root, "wrapper")
        return None
    return m.call_method(args[0], name, args[1:], kwargs, site)


# ---- changes in place


def augmented(m: Core, op: str, old: Tensor, right: Value, site: Site) -> Value:
    """`t += x`: in place."""
    if right is None:
        m.refuse(site, "computes with None", "TypeError")
    name = OPERATORS.get(op, "add")
    if name == "matmul":
        return operator(m, name, old, right, site)  # there is no `__imatmul__`
    weighed(m, old, right, site)
    return in_place(m, old, name + "_", [right], site)


def set_item(m: Core, t: Tensor, index: Value, value: Value, site: Site) -> None:
    made_of_sums(m, t, [value])
    in_place(m, t, "__setitem__", [value], site)


# ---- subscripts and iteration


def subscript(m: Core, t: Tensor, index: Value, site: Site) -> Value:
    parts = index.items if isinstance(index, Sequence) and index.kind == "tuple" else [index]
    by_tensor = any(isinstance(p, (Tensor, Opaque)) or (isinstance(p, Sequence) and p.kind == "list") for p in parts)
    if by_tensor:
        _are_places(parts)
        return m.derive("index", lookup("index"), [t, *[p for p in parts if isinstance(p, Tensor)]], site)
    return m.derive("__getitem__", lookup("__getitem__"), [t], site, shape_of_part(t.shape, parts), is_float=t.is_float)


def _are_places(parts: list[Value]) -> None:
    """What tensors are indexed by are integers or truths, which have no history: what was assumed to have some."""
    for part in parts:
        if isinstance(part, (Tensor, Opaque)) and part.node is not None and not part.node.leaf:
            part.node.weak = True


def items(m: Core, t: Tensor, site: Site) -> Iterable:
    size = t.shape[0] if t.shape else None

    def rows(exact: bool) -> Iterator[Value]:
        for _ in range(size) if exact and size is not None else m.rounds():
            yield m.derive("select", lookup("select"), [t], site, shape_of_row(t.shape), is_float=t.is_float)

    return Iterable(rows, size if size is not None and size <= 16 else None, short=True)
