"""The modules of `torch.nn`: how they are built and called, and the methods of `torch.nn.Module`."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine import tensors
from autodetach.machine.added_attributes import added_to
from autodetach.machine.arguments import are_all_known, constant, flatten, is_certain_number
from autodetach.machine.backward_hooks import removable
from autodetach.machine.convolutions import convolve, is_convolution, set_sizes, signature
from autodetach.machine.core import Core
from autodetach.machine.folding import is_copied
from autodetach.machine.graph import OFF, Site
from autodetach.machine.held import graph_in
from autodetach.machine.in_place import in_place, scale_rows
from autodetach.machine.loss_options import OF_LOSSES, is_reduced
from autodetach.machine.loss_weights import refuse_weight
from autodetach.machine.marks import HOOKS, ITEMS, OUT_OF_VIEW, PREHOOKS, WEIGHTS
from autodetach.machine.module_tree import (
    BUFFERS,
    PARAMETERS,
    children_of,
    modules_of,
    named_modules,
    named_tensors,
    parameters_of,
    set_buffer,
    set_child,
)
from autodetach.machine.number_readers import wanted
from autodetach.machine.parametrizations import weights_of
from autodetach.machine.part_names import forget, set_by_part
from autodetach.machine.shapes import shape_of_arguments
from autodetach.machine.tape import saved_for
from autodetach.machine.torch_facts import Saved
from autodetach.machine.torch_semantics import ALIKE_WEIGHTS, MODULE_INPLACE_AT, MODULES, Module, of_arguments, unpacked
from autodetach.machine.torch_semantics import Shape as Rule
from autodetach.machine.unknown_modules import are_layers
from autodetach.machine.values import (
    Class,
    External,
    Function,
    Instance,
    Iterable,
    Mapping,
    Method,
    Opaque,
    Sequence,
    Slice,
    Tensor,
    Value,
)
from autodetach.machine.values import Shape as Dims

MODULE_METHODS = frozenset(
    """
    parameters named_parameters children named_children modules named_modules train eval to cuda cpu float double half
    bfloat16 type apply share_memory zero_grad requires_grad_ state_dict load_state_dict register_buffer
    register_parameter add_module register_module register_forward_hook register_forward_pre_hook register_backward_hook
    register_full_backward_hook buffers named_buffers get_parameter get_buffer get_submodule extra_repr
    _conv_forward
    """.split()
)
RECURRENT = {"rnn", "lstm", "cell", "lstmcell"}
CONTAINERS = ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")


def _leaf(m: Core, site: Site, shape: Dims = None) -> Tensor:
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
    weights, biases = _parameter_names(name)
    if name.startswith("InstanceNorm"):
        is_affine = given.get("affine") is True
    else:
        is_affine = given.get("affine", given.get("elementwise_affine", True)) is not False
    for key in weights:
        this.attrs[key] = _leaf(m, site, _weight_shape(name, args, kwargs)) if is_affine else None
    if name not in ("Embedding", "EmbeddingBag", "PReLU"):
        has_bias = is_affine and given.get("bias", True) is not False
        for key in biases:
            this.attrs[key] = _leaf(m, site, _bias_shape(name, args, kwargs)) if has_bias else None


def _parameter_names(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
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


# ---- calls


def call_builtin_module(m: Core, this: Instance, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """Run the `forward` of a class of `torch.nn`."""
    cls = this.cls
    name = cls.name if isinstance(cls, External) else next(_builtin_names(cls), "")
    held = this.attrs.get(ITEMS)
    if name == "Sequential" and isinstance(held, Sequence):
        value = args[0] if args else None
        for child in held.items:
            value = m.call(child, [value], {}, site)
        return value
    if name != "Identity":
        wanted(m, [*args, *kwargs.values()], site, name)
    spec = MODULES.get(name)
    if spec is None or spec.result == "container":
        return _unknown_module(m, this, args, kwargs, site)
    tensors.are_tensors(args)
    if args and is_certain_number(args[0]) and name != "Identity":
        m.refuse(site, f"`{name}` of a number", "TypeError")
    if name.startswith("AdaptiveAvgPool"):
        size = {"output_size": constant(this.attrs.get("output_size"))}
        spec = spec._replace(saved=of_arguments(f"adaptive_avg_pool{name[-2]}d", (), size).saved)
    if spec.random and this.attrs.get("training", True) is not False:
        m.note_random(site)
    if name.startswith("Dropout") and (this.attrs.get("p") == 0 or this.attrs.get("training", True) is False):
        return args[0] if args else None
    if this.attrs.get("inplace") is True and name in MODULE_INPLACE_AT and args and isinstance(args[0], Tensor):
        function = "leaky_relu" if name == "LeakyReLU" else name.lower()
        return in_place(m, args[0], function + "_", [], site)
    inputs: list[Value]
    if name in ("Embedding", "EmbeddingBag"):
        inputs = []  # integers, which have no history
        scale_rows(m, this.attrs.get("weight"), this.attrs.get("max_norm"), site)
    elif len(args) == 1 and not kwargs and isinstance(args[0], (Tensor, Opaque)):
        inputs = args
    else:
        inputs = [v for v in flatten([*args, *kwargs.values()]) if isinstance(v, (Tensor, Opaque))]
    if spec.result == "loss":
        refuse_weight(m, name, this.attrs, args[1] if len(args) > 1 else kwargs.get("target"), site)
    weights = _weights(this, name)
    weights = weights_of(m, this, weights, site) if m.grad_enabled or m.parametrizes else weights[:1]
    shape = _result_shape(this, spec, name, args)
    result = run_module(m, name, spec, inputs, weights, site, shape)
    result.is_float = True
    value = _packed(m, spec, result)
    if args and is_packed(args[0]) and isinstance(value, Sequence):
        value.items[0] = packed_sequence(m, result)
    return value


def _weights(this: Instance, name: str) -> list[Tensor]:
    """The parameters with which a module computes, or what has taken their places: `layer.weight = 0.5 * raw`."""
    weights = parameters_of(this)
    own = [v for names in _parameter_names(name) for n in names if isinstance(v := this.attrs.get(n), Tensor)]
    if all(v.parameter or v in weights for v in own):
        return weights
    return own + [p for _, child in children_of(this) for p in parameters_of(child)]


def packed_sequence(m: Core, data: Tensor) -> Sequence:
    """A `PackedSequence`: a named tuple whose data have history."""
    packed = Sequence("tuple", [data, tensors.plain(None, False), None, None], m.clock)
    packed.attrs.update(data=data, batch_sizes=packed.items[1], sorted_indices=None, unsorted_indices=None)
    return packed


def is_packed(value: Value) -> bool:
    return isinstance(value, Sequence) and "batch_sizes" in value.attrs


def _builtin_names(cls: Class | External) -> Iterator[str]:
    if isinstance(cls, External):
        yield cls.name
    else:
        for base in cls.bases:
            if isinstance(base, (Class, External)):
                yield from _builtin_names(base)


def run_module(
    m: Core, name: str, spec: Module, inputs: list[Value], weights: list[Tensor], site: Site, shape: Dims
) -> Tensor:
    """One node for a module; all its parameters are parents, and stand as one operand for what is saved."""
    result = tensors.plain(shape)
    result.born = m.clock
    carriers = [t for t in (*inputs, *weights) if t.node is not None]
    if not m.grad_enabled or not carriers:
        m.note_lost(result, (*inputs, *weights), site, OFF)
        return result
    one = [*inputs, *weights[:1]]
    discrete = [isinstance(t, Tensor) and t.is_float is False for t in one]
    facts = unpacked(spec.op, [t.node is not None for t in one], discrete)
    saved = []
    for i, t in enumerate(one):
        if i in facts.operands and isinstance(t, Tensor) and not is_copied(name, t):
            saved.append((t.storage, t.storage.version))
            if t in weights and spec.result in RECURRENT | {"attention"}:
                saved.extend((w.storage, w.storage.version) for w in weights[1:])
    if facts.result or name == "RNNCell":  # of the recurrent ones, it alone ends with the activation
        saved.append((result.storage, 0))
    parents = tuple(dict.fromkeys(t.node for t in carriers if t.node is not None))
    result.node = m.new_node(
        name, site, parents, tuple(carriers), saves=facts.raises or spec.result in RECURRENT, saved=tuple(saved),
        weak=all(p.weak for p in parents),
    )  # fmt: skip
    if spec.saved is Saved.CROSS and spec.result == "tensor" and any(p.weak for p in parents):
        result.node.saved_for = saved_for(spec.op, one, discrete, facts.operands)
    return result


def _result_shape(this: Instance, spec: Module, name: str, args: list[Value]) -> Dims:
    first = args[0] if args else None
    shape = first.shape if isinstance(first, Tensor) else None
    if spec.result == "loss":
        return () if is_reduced(this.attrs) else None
    if spec.shape is Rule.SAME:
        return shape
    if name == "Linear" and shape:
        out = this.attrs.get("out_features")
        return (*shape[:-1], out if isinstance(out, int) else None)
    if name == "Embedding" and shape is not None:
        size = this.attrs.get("embedding_dim")
        return (*shape, size if isinstance(size, int) else None)
    if spec.result in ("cell", "lstmcell") and shape:
        size = this.attrs.get("hidden_size")
        return (*shape[:-1], size if isinstance(size, int) else None)
    if spec.result in ("rnn", "lstm") and shape:
        return (*shape[:-1], None)
    return None


def _packed(m: Core, spec: Module, result: Tensor) -> Value:
    def sibling() -> Tensor:
        return Tensor(result.node, None, True)

    def pair(a: Value, b: Value) -> Sequence:
        return Sequence("tuple", [a, b], m.clock)

    if spec.result == "rnn":
        return pair(result, sibling())
    if spec.result == "lstm":
        return pair(result, pair(sibling(), sibling()))
    if spec.result == "lstmcell":
        return pair(result, sibling())
    if spec.result in ("attention", "output_loss"):
        return pair(result, sibling())
    return result


def _unknown_module(m: Core, this: Instance, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """A module whose `forward` is not in view: its weights take part in what it returns."""
    values = [*args, *kwargs.values()]
    if WEIGHTS not in this.attrs:
        this.attrs[WEIGHTS] = _leaf(m, site)
        this.attrs[WEIGHTS].extras = {OUT_OF_VIEW: True}
    weights = [*parameters_of(this), this.attrs[WEIGHTS]]
    m.escape([this, *(added_to(weights) if m.adds_attributes else ())], site, "forward")
    result = m.opaque(this.cls.name)
    carriers = [*weights, *[t for v in values for t in graph_in(v)]]
    carriers = [c for c in carriers if c.node is not None and not c.node.weak]
    if m.grad_enabled and carriers:
        parents = tuple(dict.fromkeys(c.node for c in carriers if c.node is not None))
        saved = tuple((w.storage, w.storage.version) for w in weights)
        result.node = m.new_node(this.cls.name, site, parents, tuple(carriers), saves=True, saved=saved, assumed=True)
    return result


def run_pre_hooks(m: Core, this: Instance, args: list[Value], site: Site) -> list[Value]:
    """The positional arguments as the forward pre-hooks leave them."""
    hooks = this.attrs.get(PREHOOKS)
    if isinstance(hooks, Sequence):
        for hook in list(hooks.items):
            changed = m.call(hook, [this, Sequence("tuple", list(args), m.clock)], {}, site)
            if isinstance(changed, Sequence):
                args = list(changed.items)
            elif isinstance(changed, Tensor):
                args = [changed]
    return args


def run_hooks(m: Core, this: Instance, args: list[Value], result: Value, site: Site) -> Value:
    hooks = this.attrs.get(HOOKS)
    if isinstance(hooks, Sequence):
        for hook in list(hooks.items):
            changed = m.call(hook, [this, Sequence("tuple", list(args), m.clock), result], {}, site)
            if changed is not None and not (isinstance(changed, Opaque) and changed.node is None):
                result = changed
    return result


# ---- methods


def module_method(m: Core, this: Instance, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """Call a method that `torch.nn.Module` has, where the program does not override it."""
    if name in ("train", "eval"):
        mode = (args[0] if args else kwargs.get("mode", True)) if name == "train" else False
        weights = {p.node for p in parameters_of(this) if p.node is not None}
        m.evaluated = m.evaluated - weights if mode is not False else m.evaluated | weights
        own = _own_train(m, this, site) if name == "eval" else None
        if own is not None:
            m.call(own, [mode], {}, site)
        else:
            _set_mode(m, this, mode, site, set())
        return this
    if name == "zero_grad":
        m.zero(parameters_of(this))
        return None
    if name == "requires_grad_":
        for p in parameters_of(this):
            tensors.set_requires_grad(m, p, args[0] if args else True, site)
        return this
    if name in LISTINGS:
        if not name.endswith("parameters"):
            forget(m, modules_of(this))
        return _listing(m, this, name)
    if name == "apply" and args:
        for module in list(modules_of(this)):
            m.call(args[0], [module], {}, site)
        return this
    if name in ("register_buffer", "register_parameter", "add_module", "register_module"):
        key = args[0] if args else kwargs.get("name")
        value = args[1] if len(args) > 1 else kwargs.get("tensor", kwargs.get("param", kwargs.get("module")))
        wanted(m, [value], site, name)
        if isinstance(value, Instance):
            set_child(this, key if isinstance(key, str) else f"#child{m.serial()}", value)
        elif isinstance(key, str) and name == "register_buffer":
            set_buffer(this, key, value)
        elif isinstance(key, str):
            this.attrs[key] = value
        elif name == "register_buffer" and key is not None:
            set_by_part(m, this, key, value, site, 1)
        return None
    if name in ("register_forward_hook", "register_forward_pre_hook") and args:
        kind = HOOKS if name == "register_forward_hook" else PREHOOKS
        hooks = this.attrs.setdefault(kind, Sequence("list", [], m.clock))
        hooks.items.append(args[0])
        return _handle(m, hooks, args[0])
    if name.startswith("register_"):
        return m.opaque("handle")
    if name == "state_dict":
        return state_dict(m, this)
    if name == "load_state_dict":
        for _, tensor in named_tensors(this):
            m.change_in_place(tensor, site)
        return m.opaque(name)
    if name == "_conv_forward":
        conv = next((n for n in _builtin_names(this.cls) if is_convolution(n)), None)
        return m.call(convolve(m, this, conv), args, kwargs, site) if conv is not None else m.opaque(name)
    if name in ("get_parameter", "get_buffer", "get_submodule") and args:
        found: list[tuple[str, Value]] = [*named_tensors(this), *named_modules(this)]
        return next((v for key, v in found if key == args[0]), None) or m.opaque(name)
    return m.opaque(name) if name == "extra_repr" else this


def _set_mode(m: Core, this: Instance, mode: Value, site: Site, seen: set[int]) -> None:
    """Set the mode of a module and of all below it, of which each may do more in a `train` of its own."""
    seen.add(id(this))
    this.attrs["training"] = mode
    for _, child in children_of(this):
        if id(child) in seen:
            continue
        own = _own_train(m, child, site)
        if own is not None:
            m.call(own, [mode], {}, site)
        else:
            _set_mode(m, child, mode, site, seen)


def _own_train(m: Core, this: Instance, site: Site) -> Method | None:
    """The `train(mode)` of a class in view; a method of this name that needs more is none, and nothing calls it so."""
    found = m.lookup(this, "train", site) if isinstance(this.cls, Class) else None
    if not isinstance(found, Method) or not isinstance(found.function, Function):
        return None
    needed = len(found.function.node.args.args) - len(found.function.defaults)
    return found if needed <= 2 else None


def _handle(m: Core, hooks: Sequence, hook: Value) -> Instance:
    """What `register_forward_hook` returns."""

    def remove() -> None:
        if hook in hooks.items:
            hooks.items.remove(hook)

    return removable(m, remove)


def state_dict(m: Core, this: Instance) -> Mapping:
    """By name: the data of parameters and buffers, sharing memory with them."""
    result = Mapping(m.clock, exact=all(_is_whole(module) for module in modules_of(this)))
    for name, tensor in named_tensors(this):
        result.items[m.key(name)] = (name, tensors.plain(tensor.shape, tensor.is_float, tensor.storage))
    return result


def _is_whole(module: Instance) -> bool:
    """Whether all tensors that a module holds are known."""
    items = module.attrs.get(ITEMS)
    spec = next((MODULES[n] for n in _builtin_names(module.cls) if n in MODULES), None)
    plain = spec is None or (spec.result != "attention" and not spec.random)
    return not module.open and plain and (items is None or items.exact)


LISTINGS = frozenset(
    """
    parameters named_parameters buffers named_buffers children named_children modules named_modules
    """.split()
)


def _listing(m: Core, this: Instance, name: str) -> Iterable:
    if name.endswith(("parameters", "buffers")):
        found = [*named_tensors(this, PARAMETERS if name.endswith("parameters") else BUFFERS)]

        def tell(exact: bool) -> Iterator[Value]:
            for key, tensor in found:
                yield Sequence("tuple", [key, tensor], m.clock) if name.startswith("named") else tensor

        return Iterable(tell, len(found), name, listed=True)

    def make(exact: bool) -> Iterator[Value]:
        if name == "children":
            yield from (child for _, child in children_of(this))
        elif name == "named_children":
            for key, child in children_of(this):
                yield Sequence("tuple", [key, child], m.clock)
        elif name == "modules":
            yield from modules_of(this)
        else:
            for key, module in named_modules(this):
                yield Sequence("tuple", [key, module], m.clock)

    count = sum(1 for _ in make(True))
    return Iterable(make, count, name, listed=True)
