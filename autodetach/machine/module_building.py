"""The modules of `torch.nn`: how they are built, and what they hold."""

from __future__ import annotations

from autodetach.machine import tensors
from autodetach.machine.arguments import are_all_known
from autodetach.machine.convolutions import is_convolution, set_sizes, signature
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.loss_options import OF_LOSSES
from autodetach.machine.marks import ITEMS
from autodetach.machine.module_tree import set_buffer
from autodetach.machine.program_values import External, Instance
from autodetach.machine.shapes import shape_of_arguments
from autodetach.machine.torch_semantics import ALIKE_WEIGHTS, MODULE_INPLACE_AT, MODULES
from autodetach.machine.unknown_modules import are_layers
from autodetach.machine.values import Mapping, Sequence, Slice, Tensor, Value
from autodetach.machine.values import Shape as Dims

CONTAINERS = ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")


def weight(m: Core, site: Site, shape: Dims = None) -> Tensor:
    """A new parameter."""
    tensor = m.leaf(site, shape)
    tensor.parameter = True
    return tensor


def build_module(m: Core, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """An object of a class of `torch.nn`, with its parameters."""
    this = Instance(External("torch.nn." + name), m.serial(), m.clock)
    if name in CONTAINERS:
        held = this.attrs[ITEMS] = _contents(m, name, args, site)
        if name in ("Sequential", "ModuleList") and isinstance(held, Sequence):
            are_layers(m, held.items, site)
        return this
    if name in ("DataParallel",) and args:
        return args[0]
    spec = MODULES[name]
    if spec.params or name.startswith("InstanceNorm"):
        _add_parameters(m, this, name, args, kwargs, site)
        if name not in ALIKE_WEIGHTS:
            m.note_random(site)
    at = MODULE_INPLACE_AT.get(name)
    if at is not None and len(args) > at:
        this.attrs["inplace"] = args[at]
    for key, value in zip(_signature(name), args, strict=False):
        this.attrs.setdefault(key, value)
    for key, value in kwargs.items():
        this.attrs.setdefault(key, value)
    if is_convolution(name):
        set_sizes(m, this, name)
    if "BatchNorm" in name or "InstanceNorm" in name:
        for buffer in ("running_mean", "running_var"):
            set_buffer(this, buffer, tensors.plain(None, True))
        this.attrs["eps"] = m.fresh("number")
        this.attrs.setdefault("momentum", m.fresh("number"))
    return this


def _add_parameters(
    m: Core, this: Instance, name: str, args: list[Value], kwargs: dict[str, Value], site: Site
) -> None:
    """The parameters that a module has by its options; those that it could have, and has not, are None."""
    given = {**dict(zip(_signature(name), args, strict=False)), **kwargs}
    weights, biases = parameter_names(name)
    if name.startswith("InstanceNorm"):
        is_affine = given.get("affine") is True
    else:
        is_affine = given.get("affine", given.get("elementwise_affine", True)) is not False
    for key in weights:
        this.attrs[key] = weight(m, site, _weight_shape(name, args, kwargs)) if is_affine else None
    if name not in ("Embedding", "EmbeddingBag", "PReLU"):
        has_bias = is_affine and given.get("bias", True) is not False
        for key in biases:
            this.attrs[key] = weight(m, site, _bias_shape(name, args, kwargs)) if has_bias else None


def parameter_names(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The weights and the biases of a module, of one layer."""
    if name in ("RNN", "LSTM", "GRU"):
        return ("weight_ih_l0", "weight_hh_l0"), ("bias_ih_l0", "bias_hh_l0")
    if name in ("RNNCell", "LSTMCell", "GRUCell"):
        return ("weight_ih", "weight_hh"), ("bias_ih", "bias_hh")
    if name == "MultiheadAttention":
        return ("in_proj_weight",), ("in_proj_bias",)
    return ("weight",), ("bias",)


def _signature(name: str) -> tuple[str, ...]:
    if "Dropout" in name:
        return ("p",)
    if name.startswith("Adaptive"):
        return ("output_size",)
    if name == "Linear":
        return ("in_features", "out_features", "bias")
    if is_convolution(name):
        return signature(name)
    if name in ("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell"):
        return ("input_size", "hidden_size", "num_layers")
    if name == "Embedding":
        return ("num_embeddings", "embedding_dim", "padding_idx", "max_norm")
    if name == "EmbeddingBag":
        return ("num_embeddings", "embedding_dim", "max_norm")
    return OF_LOSSES.get(name, ())


def _weight_shape(name: str, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    if name == "Linear":
        out = args[1] if len(args) > 1 else kwargs.get("out_features")
        into = args[0] if args else kwargs.get("in_features")
        return (out if isinstance(out, int) else None, into if isinstance(into, int) else None)
    if name == "Embedding":
        return shape_of_arguments(args[:2]) if len(args) > 1 else (None, None)
    return None


def _bias_shape(name: str, args: list[Value], kwargs: dict[str, Value]) -> Dims:
    shape = _weight_shape(name, args, kwargs)
    return shape[:1] if shape is not None else None


def _contents(m: Core, name: str, args: list[Value], site: Site) -> Value:
    if name in ("ModuleDict", "ParameterDict"):
        if args and isinstance(args[0], Mapping):
            copy = Mapping(m.clock, args[0].exact)
            copy.items.update(args[0].items)
            return copy
        return Mapping(m.clock, exact=not args)
    if name == "Sequential":
        if len(args) == 1 and isinstance(args[0], Mapping):
            named = Sequence("list", [v for _, v in args[0].items.values()], m.clock, args[0].exact)
            named.attrs.update((k, v) for k, v in args[0].items.values() if isinstance(k, str) and not k.isdecimal())
            return named
        return Sequence("list", list(args), m.clock, are_all_known(args, site))
    if not args:
        return Sequence("list", [], m.clock)
    items, exact = m.collect(args[0], site)
    return Sequence("list", items, m.clock, exact)


def part_of(m: Core, this: Instance, index: Slice) -> Instance:
    """`model[:2]` of a Sequential or a ModuleList: one of the same class."""
    part = Instance(this.cls, m.serial(), m.clock)
    part.open = this.open
    bounds = (index.lower, index.upper, index.step)
    held = this.attrs[ITEMS]
    known = all(b is None or isinstance(b, int) for b in bounds) and index.step != 0
    items = held.items[slice(*bounds)] if known else list(held.items)
    kept = part.attrs[ITEMS] = Sequence("list", items, m.clock, held.exact and known)
    kept.attrs.update(held.attrs)
    return part
