"""Functions of PyTorch that are given functions, modules or data sets: checkpoints, `torch.func`, averaged models."""

from __future__ import annotations

from autodetach.machine import tensors
from autodetach.machine.arguments import flatten
from autodetach.machine.by_place import by_place
from autodetach.machine.called_unseen import register
from autodetach.machine.copies import deepcopy
from autodetach.machine.core import Args, Core, Handler, Named
from autodetach.machine.graph import Site
from autodetach.machine.module_calls import packed_sequence
from autodetach.machine.module_tree import named_tensors
from autodetach.machine.program_values import External, Function, Instance, Iterable, Method, Native
from autodetach.machine.shapes import shape_of_row
from autodetach.machine.torch_semantics import Op, Saved, lookup
from autodetach.machine.values import Mapping, Sequence, Tensor, Value

CHECKPOINT_OPTIONS = frozenset("use_reentrant preserve_rng_state context_fn determinism_check debug early_stop".split())
OPAQUE = Op(Saved.OPAQUE)


# ---- checkpoints


def _checkpoint(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """Run in place; the older variant wraps it in a node that saves its inputs."""
    args, named = by_place("checkpoint", args, kwargs)
    function = args[0] if args else m.opaque("function")
    given = {k: v for k, v in named.items() if k not in CHECKPOINT_OPTIONS}
    return _wrapped(m, m.call(function, args[1:], given, site), kwargs, site)


def _checkpoint_sequential(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    args, kwargs = by_place("checkpoint_sequential", args, kwargs)
    functions = m.collect(args[0], site)[0] if args else []
    value = args[2] if len(args) > 2 else kwargs.get("input")
    for function in functions:
        value = m.call(function, [value], {}, site)
    return _wrapped(m, value, kwargs, site)


def _wrapped(m: Core, value: Value, kwargs: Named, site: Site) -> Value:
    if kwargs.get("use_reentrant") is not True:
        return value
    if isinstance(value, Tensor) and value.node is not None:
        return m.derive("checkpoint", OPAQUE, [value], site, value.shape, is_float=value.is_float)
    if isinstance(value, Sequence):
        return Sequence(value.kind, [_wrapped(m, v, kwargs, site) for v in value.items], m.clock, value.exact)
    return value


# ---- torch.func


def _vmap(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """The function is run on one row; what it makes stands for all."""
    function = args[0] if args else kwargs.get("func")

    def run(values: Args, named: Named, s: Site) -> Value:
        rows = [_row(m, v, s) for v in values] if "in_dims" not in kwargs and len(args) < 2 else values
        return _stacked(m, m.call(function, rows, named, s), s)

    return Native("vmap", run, function)


def _row(m: Core, value: Value, site: Site) -> Value:
    if isinstance(value, Tensor):
        return m.derive("select", lookup("select"), [value], site, shape_of_row(value.shape))
    return value


def _stacked(m: Core, value: Value, site: Site) -> Value:
    if isinstance(value, Tensor):
        shape = None if value.shape is None else (None, *value.shape)
        return m.derive("stack", lookup("stack"), [value], site, shape, is_float=value.is_float)
    if isinstance(value, Sequence):
        return Sequence(value.kind, [_stacked(m, v, site) for v in value.items], m.clock, value.exact)
    return value


def _derivative(values_too: bool) -> Handler:
    """`torch.func.grad(f)` and its kin: the derivative has history if the value of `f` has."""

    def make(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
        function = args[0] if args else kwargs.get("func")
        has_aux = kwargs.get("has_aux") is True

        def run(values: Args, named: Named, s: Site) -> Value:
            result = m.call(function, values, named, s)
            parts = result.items if has_aux and isinstance(result, Sequence) else [result]
            m.escape(parts[:1], s, "func.grad", later=False)  # which differentiates it
            gradient = _like(m, values[0] if values else None, parts[0], s)
            shown = result if values_too else parts[1] if len(parts) > 1 else None
            return Sequence("tuple", [gradient, shown], m.clock) if values_too or has_aux else gradient

        return Native("derivative", run, function)

    return make


def _like(m: Core, target: Value, value: Value, site: Site) -> Value:
    """A gradient for each tensor of `target`."""
    if isinstance(target, Mapping):
        made = Mapping(m.clock, target.exact)
        made.items.update({key: (k, _like(m, v, value, site)) for key, (k, v) in target.items.items()})
        return made
    if isinstance(target, Sequence):
        return Sequence(target.kind, [_like(m, v, value, site) for v in target.items], m.clock, target.exact)
    shape = target.shape if isinstance(target, Tensor) else None
    return m.derive("func.grad", OPAQUE, flatten([value]), site, shape, is_float=True)


def of_autograd_functional(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`torch.autograd.functional.jacobian(f, x)`: without history, unless `create_graph`."""
    if kwargs.get("create_graph") is not True or not args:
        return tensors.plain(None, True)
    held = m.collect(args[1], site)[0] if len(args) > 1 and isinstance(args[1], Sequence) else args[1:2]
    value = m.call(args[0], held, {}, site) if isinstance(args[0], (Function, Method, Native, Instance)) else None
    return m.derive("jacobian", OPAQUE, flatten([value, *held]), site)


# ---- sequences of unequal length, parameters as one vector


def _pad_sequence(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    return m.derive("pad_sequence", OPAQUE, _parts(m, args[:1], site), site, is_float=True)


def _pack(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    return packed_sequence(m, m.derive("pack", OPAQUE, _parts(m, args[:1], site), site, is_float=True))


def _pad_packed(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    data = m.derive("pad_packed", OPAQUE, _parts(m, args[:1], site), site, is_float=True)
    return Sequence("tuple", [data, tensors.plain(None, False)], m.clock)


def _to_vector(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    parts = _parts(m, args[:1] or [kwargs.get("parameters")], site)
    return m.derive("cat", lookup("cat"), parts, site, (None,), is_float=True)


def _parts(m: Core, args: Args, site: Site) -> Args:
    value = args[0] if args else None
    return flatten(m.collect(value, site, 64)[0] if isinstance(value, Iterable) else [value])


# ---- averaged models, data sets


def _averaged(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`AveragedModel(model)`: a copy of the model, which `update_parameters` changes in place."""
    model = args[0] if args else kwargs.get("model")
    register(m, [*args[1:], *(value for name, value in kwargs.items() if name != "model")], site)
    if not isinstance(model, Instance):
        return m.opaque("AveragedModel")
    this = Instance(External("torch.nn.AveragedModel"), m.serial(), m.clock)
    module = this.attrs["module"] = deepcopy(m, [model], {}, site)

    def update(values: Args, named: Named, s: Site) -> Value:
        for _, tensor in named_tensors(module):
            m.change_in_place(tensor, s)
        return None

    this.attrs["forward"] = Native("forward", lambda values, named, s: m.call(module, values, named, s))
    this.attrs["update_parameters"] = Native("update_parameters", update)
    return this


def _subset(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    return args[0] if args else kwargs.get("dataset")


def _random_split(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    lengths = args[1] if len(args) > 1 else kwargs.get("lengths")
    count = len(lengths.items) if isinstance(lengths, Sequence) else 2
    return Sequence("list", [_subset(m, args, kwargs, site)] * count, m.clock)


HANDLERS: dict[str, Handler] = {
    "utils.checkpoint.checkpoint": _checkpoint,
    "utils.checkpoint.checkpoint_sequential": _checkpoint_sequential,
    "vmap": _vmap, "func.vmap": _vmap,
    "func.grad": _derivative(False), "func.grad_and_value": _derivative(True),
    "func.jacrev": _derivative(False), "func.jacfwd": _derivative(False), "func.hessian": _derivative(False),
    "nn.utils.rnn.pad_sequence": _pad_sequence, "nn.utils.rnn.pack_padded_sequence": _pack,
    "nn.utils.rnn.pack_sequence": _pack, "nn.utils.rnn.pad_packed_sequence": _pad_packed,
    "nn.utils.parameters_to_vector": _to_vector,
    "nn.utils.convert_parameters.parameters_to_vector": _to_vector,
    "optim.swa_utils.AveragedModel": _averaged,
    "utils.data.Subset": _subset, "utils.data.random_split": _random_split,
}  # fmt: skip
