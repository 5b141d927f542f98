"""What is done where a module of `torch.nn` is called."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine import operations, tensors
from autodetach.machine.added_attributes import added_to
from autodetach.machine.arguments import constant, flatten, is_certain_number
from autodetach.machine.by_place import by_place
from autodetach.machine.core import Core
from autodetach.machine.folding import is_copied, is_transposed_first
from autodetach.machine.graph import OFF, Site
from autodetach.machine.held import compared, graph_in
from autodetach.machine.in_place import in_place, scale_rows
from autodetach.machine.loss_options import is_reduced
from autodetach.machine.loss_weights import refuse_weight
from autodetach.machine.marks import HOOKS, ITEMS, OUT_OF_VIEW, PREHOOKS, SPECTRAL, WEIGHTS
from autodetach.machine.module_building import parameter_names, weight
from autodetach.machine.module_tree import children_of, parameters_of
from autodetach.machine.number_readers import marked, wanted
from autodetach.machine.parametrizations import weights_of
from autodetach.machine.program_values import Class, External, Instance
from autodetach.machine.reductions_set import may_be_set
from autodetach.machine.tape import saved_for
from autodetach.machine.torch_facts import Saved
from autodetach.machine.torch_semantics import MODULE_INPLACE_AT, MODULES, Module, of_arguments, unpacked
from autodetach.machine.torch_semantics import Shape as Rule
from autodetach.machine.values import Opaque, Sequence, Tensor, Value, gradients_in, lost_in
from autodetach.machine.values import Shape as Dims

RECURRENT = {"rnn", "lstm", "cell", "lstmcell"}


def call_builtin_module(m: Core, this: Instance, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """Run the `forward` of a class of `torch.nn`."""
    args, kwargs = by_place("", args, kwargs)
    cls = this.cls
    name = cls.name if isinstance(cls, External) else next(names_in_nn(cls), "")
    held = this.attrs.get(ITEMS)
    if name == "Sequential" and isinstance(held, Sequence):
        value = args[0] if args else None
        for child in held.items:
            value = m.call(child, [value], {}, site)
        return value
    if name == "Identity":
        return args[0] if args else kwargs.get("input")
    wanted(m, [*args, *kwargs.values()], site, name)
    spec = MODULES.get(name)
    if spec is None or spec.result == "container":
        return _unknown_module(m, this, args, kwargs, site)
    operations.are_tensors(args)
    if args and is_certain_number(args[0]):
        m.refuse(site, f"`{name}` of a number", "TypeError")
    if name.startswith("AdaptiveAvgPool"):
        size = {"output_size": constant(this.attrs.get("output_size"))}
        spec = spec._replace(saved=of_arguments(f"adaptive_avg_pool{name[-2]}d", (), size).saved)
    if spec.random and this.attrs.get("training", True) is not False:
        m.note_random(site)
    if this.attrs.get("training", True) is not False and _keeps_state(this, name):
        m.note_state(site)
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
    shape = _result_shape(m, this, spec, name, args)
    kept = [v for v in inputs if not is_transposed_first(name, this.attrs, v)]
    result = run_module(m, name, spec, inputs, weights, site, shape, kept)
    result.is_float = True
    value = _packed(m, spec, result)
    if args and is_packed(args[0]) and isinstance(value, Sequence):
        value.items[0] = packed_sequence(m, result)
    return value


def _keeps_state(this: Instance, name: str) -> bool:
    """Whether a call changes more of a layer that trains than its result: running statistics, or a normed weight."""
    is_tracked = this.attrs.get("track_running_stats", not name.startswith("InstanceNorm")) is not False
    return SPECTRAL in this.attrs or (is_tracked and ("BatchNorm" in name or "InstanceNorm" in name))


def _weights(this: Instance, name: str) -> list[Tensor]:
    """The parameters with which a module computes, or what has taken their places: `layer.weight = 0.5 * raw`."""
    weights = parameters_of(this)
    own = [v for names in parameter_names(name) for n in names if isinstance(v := this.attrs.get(n), Tensor)]
    others = [v for v in own if not v.parameter and v not in weights]
    return own + [p for _, child in children_of(this) for p in parameters_of(child)] if others else weights


def packed_sequence(m: Core, data: Tensor) -> Sequence:
    """A `PackedSequence`: a named tuple whose data have history."""
    packed = Sequence("tuple", [data, tensors.plain(None, False), None, None], m.clock)
    packed.attrs.update(data=data, batch_sizes=packed.items[1], sorted_indices=None, unsorted_indices=None)
    return packed


def is_packed(value: Value) -> bool:
    return isinstance(value, Sequence) and "batch_sizes" in value.attrs


def names_in_nn(cls: Class | External) -> Iterator[str]:
    if isinstance(cls, External):
        yield cls.name
    else:
        for base in cls.bases:
            if isinstance(base, (Class, External)):
                yield from names_in_nn(base)


def run_module(
    m: Core, name: str, spec: Module, inputs: list[Value], weights: list[Tensor], site: Site, shape: Dims,
    kept: list[Value],
) -> Tensor:  # fmt: skip
    """One node for a module; all its parameters are parents, and stand as one operand for what is saved.

    Of the inputs, those in `kept` may be saved as they are.
    """
    result = tensors.plain(shape)
    result.born = m.clock
    marked(result, *inputs)
    carriers = [t for t in (*inputs, *weights) if t.node is not None]
    by_gradient = gradients_in(inputs)
    if not m.grad_enabled or not carriers:
        result.from_grad = by_gradient
        m.note_lost(result, (*inputs, *weights), site, OFF)
        if result.lost and spec.result == "loss" and m.grad_enabled:
            result.lost = compared(result.lost, site.node)
        return result
    one = [*inputs, *weights[:1]]
    discrete = [isinstance(t, Tensor) and t.is_float is False for t in one]
    facts = unpacked(spec.op, [t.node is not None for t in one], discrete)
    saved = []
    for i, t in enumerate(one):
        if i not in facts.operands or not isinstance(t, Tensor) or is_copied(name, t):
            continue
        if i >= len(inputs) or any(t is v for v in kept):
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
    m.note_cut_off(result.node, lost_in(inputs))
    if by_gradient:
        m.by_gradient[result.node] = by_gradient
    if spec.saved is Saved.CROSS and spec.result == "tensor" and any(p.weak for p in parents):
        result.node.saved_for = saved_for(spec.op, one, discrete, facts.operands)
    return result


def _result_shape(m: Core, this: Instance, spec: Module, name: str, args: list[Value]) -> Dims:
    first = args[0] if args else None
    shape = first.shape if isinstance(first, Tensor) else None
    if spec.result == "loss":
        return () if is_reduced(this.attrs) and not may_be_set(m) else None
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
        this.attrs[WEIGHTS] = weight(m, site)
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
