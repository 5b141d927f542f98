"""Values of unknown type: what their methods do, by their names and by what they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine import (
    cut_parts,
    forward_hooks,
    keywords,
    object_arrays,
    operations,
    options,
    step_hooks,
    tensors,
    threads,
)
from autodetach.machine.arguments import flatten
from autodetach.machine.core import Core
from autodetach.machine.cut_by_others import cut_by_method
from autodetach.machine.differentiation import differentiate_call
from autodetach.machine.dtypes import is_cast_to_integers
from autodetach.machine.engines import opaque_scaler, opaque_step, wrapped_backward
from autodetach.machine.graph import Site
from autodetach.machine.held import graph_in, lost_by_arrays, stored_in
from autodetach.machine.implicit_calls import show
from autodetach.machine.lent import note_lent
from autodetach.machine.marks import ARRAY, HELD, LEAVES, LEFT_OUT, OPTIMIZER, QUIET, WEIGHTS, is_mark
from autodetach.machine.module_tree import is_module
from autodetach.machine.number_readers import tags_of
from autodetach.machine.optimizers import is_optimizer, optimizer_leaves
from autodetach.machine.parameter_groups import clip
from autodetach.machine.program_values import Iterable
from autodetach.machine.quiet import REPORTS
from autodetach.machine.settings import open_written
from autodetach.machine.state import MISSING
from autodetach.machine.steering import SEEDING, computed_with
from autodetach.machine.told_of_values import GIVEN
from autodetach.machine.torch_semantics import LIKE_ANOTHER, TENSOR_ATTRIBUTES, Saved, Shape, lookup
from autodetach.machine.unknown_modules import FROZEN, weights_of_layers, weights_of_network
from autodetach.machine.values import SIZES, GradMode, Opaque, Sequence, Sym, Tensor, Value
from autodetach.machine.watched_elsewhere import note_given, note_watched
from autodetach.machine.words import EVIDENCE, names_penalty
from autodetach.machine.written_later import MERGING

COUNTS = frozenset("size dim numel nelement ndimension".split())
PREPARES = frozenset(
    """
    prepare prepare_model prepare_optimizer prepare_data_loader setup setup_module setup_dataloaders setup_optimizers
    configure unwrap_model
    """.split()
)
"""Methods of trainers that give back, wrapped, what they are given."""
ONLY_OF_TENSORS = TENSOR_ATTRIBUTES - {"detach", "item", *dir(dict), *dir(list), *dir(str)}
"""What is asked of a tensor and of no record; what a repair asks tells nothing."""
DETACHED = "#detached"
"""Marks the result of `detach()`: without history, whatever else it is."""
TRAINED = frozenset({"parameters", "named_parameters", "train"})
"""Of what only modules are asked for, what is asked in order to train them."""
MOVED = frozenset("to cuda cpu half float double".split())
"""What gives a module back, or what has no history yet."""
CASTS = frozenset("float double half bfloat16 long".split())
CLIPS = frozenset("clip_grad_norm_ clip_grad_value_ clip_gradients clip_grad_norm".split())


def _is_writer(this: Opaque) -> bool:
    """Whether it is one that writes what it is given, and keeps nothing, such as a `SummaryWriter`."""
    return QUIET in this.attrs or this.name.rpartition(".")[2] == "SummaryWriter"


def opaque_method(m: Core, this: Opaque, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """A method of something unknown, by what its name and its arguments tell."""
    cut_by_method(m, this, name, [*args, *kwargs.values()], site)
    if name in ONLY_OF_TENSORS:
        operations.are_tensors([this])
    keyword = keywords.method(m, this, name, args, site)
    if keyword is not MISSING:
        return keyword
    if name == "manual_backward" or (name == "backward" and not _is_of_another(args)):
        return _differentiated(m, this, args, kwargs, site)
    if name in CASTS:
        this.attrs[ARRAY] = True
    if (args or kwargs) and (this.node is None or this.node.weak) and not _is_writer(this):
        note_lent(m, [*args, *kwargs.values()])
    for of_its_kind in (_of_tensor, _of_optimizer, _of_module, _of_tool):
        result = of_its_kind(m, this, name, args, kwargs, site)
        if result is not MISSING:
            return result
    result = _of_anything(m, this, name, args, kwargs, site)
    if type(result) is Opaque and result is not this:
        result.giver = this
        if name in MOVED or name == "type":
            result.name = this.name
        if this.lost:
            result.lost = lost_by_arrays(this, *args)
        if ARRAY in this.attrs and name in ("sum", "mean") and not args and not kwargs:
            result.scalar = True
    return result


def _differentiated(m: Core, this: Opaque, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`this.backward()`, where `this` is a loss, or what is asked to differentiate one that it is given."""
    first = args[0] if args else kwargs.get("loss")
    if isinstance(first, (Tensor, Opaque)) and this.node is None:
        if _is_item(site.node):
            m.escape([first], site, "backward")
            return _opaque_backward(m, this, args, kwargs, site)
        return wrapped_backward(m, args, kwargs, site)
    if this.node is not None and this.node.leaf:
        return None
    if isinstance(first, Sequence):  # a tensor takes one gradient: this differentiates what it has made itself
        _opaque_backward(m, m.opaque("backward"), args, kwargs, site)
        return m.call_unknown("backward", [this, *args], kwargs, site)
    return _opaque_backward(m, this, args, kwargs, site)


def _of_tensor(m: Core, this: Opaque, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """What changes the history of a tensor, or has none; MISSING for all else."""
    if is_cast_to_integers(name, args, kwargs):
        return tensors.plain(None, False)
    if name in ("item", "tolist") and not stored_in(this):
        is_number = name == "item" or tensors.WITHOUT_DIMENSION in this.attrs
        return m.fresh("number" if is_number else "", tags=tags_of(None, site))
    if DETACHED in this.attrs and this.node is None and name in TENSOR_ATTRIBUTES and name != "detach":
        return tensors.method(m, tensors.plain(() if this.scalar else None), name, args, kwargs, site)
    if name == "requires_grad_":
        flag = args[0] if args else kwargs.get("requires_grad", True)
        if WEIGHTS in this.attrs or (args and flag is False):
            return _switched(m, this, flag, site)
        if _is_copy(this) and flag is not False:
            this.node = m.leaf(site).node
            return this
    if name == "detach":
        result = m.opaque(this.name)
        result.scalar = this.scalar
        result.attrs[DETACHED] = True
        result.owner = this
        m.let_go(this.node, result, site)
        return result
    if name == "detach_":
        m.cut[this] = m.clock
        cut_parts.cut_in_place(m, this)
        this.node = None
        return this
    if name in MOVED and (this.node is None or WEIGHTS in this.attrs):
        return this
    return MISSING


def _of_optimizer(m: Core, this: Opaque, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """What an optimizer, or a gradient scaler, is asked for; MISSING for all else."""
    if name == "step":
        return opaque_step(m, this, args, kwargs, site)
    if name == "zero_grad":
        if WEIGHTS not in this.attrs:
            this.attrs[OPTIMIZER] = True
        m.zero(optimizer_leaves(m, this) if WEIGHTS not in this.attrs else [this.attrs[WEIGHTS]])
        return None
    if name in step_hooks.OF_ONE and (args or kwargs):
        return step_hooks.register(m, this, step_hooks.OF_ONE[name], [*args, *kwargs.values()][0])
    if name == "add_param_group":
        this.attrs.pop(LEAVES, None)
    if name == "scale" and args and isinstance(args[0], (Tensor, Opaque)):
        return opaque_scaler(m, name, args, site)
    if name in ("unscale_", "update") and this.node is None and (not args or is_optimizer(args[0])):
        if name == "unscale_":
            m.scaled.append(m.clock)
        return None
    return MISSING


def _of_module(m: Core, this: Opaque, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """What only modules are asked for; MISSING for all else."""
    if name in EVIDENCE:
        return _module_evidence(m, this, name, site)
    if name in ("forward", "__call__") and WEIGHTS in this.attrs:
        return call_opaque_module(m, this, args, kwargs, site)
    if name == "get_submodule":
        return m.part(this, name, site)
    if name == "register_forward_hook" and args:
        return forward_hooks.register(m, this, args[0])
    return MISSING


def _of_tool(m: Core, this: Opaque, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """What trainers, contexts, loggers, parsers of options and pools of threads are asked for; MISSING for all else."""
    values = [*args, *kwargs.values()]
    if name.startswith(MERGING):
        open_written(m, this)
    if name in SEEDING:
        computed_with(m, values, site)
    if name == "enter_context" and args and isinstance(args[0], GradMode):
        if isinstance(args[0].enabled, bool):
            m.grad_enabled = args[0].enabled
        return None
    if name in CLIPS and this.node is None:
        return clip(m, name, kwargs.get("parameters", next(iter(values), None)), site)
    if name == "unwrap_model" and args:
        return args[0]
    if name in PREPARES and args:
        return args[0] if len(args) == 1 else Sequence("tuple", list(args), m.clock)
    if name in ("accumulate", "autocast", "no_sync"):
        return m.opaque(name)
    if name == "add_argument":
        options.add_argument(m, args, kwargs)
    if name == "set_defaults" or (name == "add_mutually_exclusive_group" and kwargs.get("required")):
        options.set_elsewhere(m)
    if name in options.PARSE and QUIET in this.attrs:
        return options.parsed(m, name, args, kwargs)
    if name in REPORTS and not _is_operation(this, name, values):
        from autodetach.machine.log_records import logged

        show(m, values, site)
        logged(m, name, args, kwargs, site)
        return m.opaque(name) if name in TENSOR_ATTRIBUTES else m.quiet(name)
    if name in threads.WAITING:
        threads.wait_for_all(m, this, name)
    if name in threads.CALLING and values:
        called = threads.called_in_pool(m, this, name, args, site)
        return MISSING if called is None else called
    return MISSING


def _of_anything(m: Core, this: Opaque, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """A method of which its name tells nothing, or little: its result has what history it and its arguments have."""
    if _takes_no_history(name, args, kwargs):
        args, kwargs = [], {}
    values = [*args, *kwargs.values()]
    if name in ("items", "keys", "values") and not args:
        return _opaque_view(m, this, name, site)
    with_history = any(True for v in values for _ in graph_in(v))
    if name in COUNTS and not with_history:
        return m.fresh("number" if values or name != "size" else SIZES)
    _may_rebind(m, this, site)
    if name == "fill" and args:
        object_arrays.fill(this, args[0])
    if this.node is not None and name in TENSOR_ATTRIBUTES:
        return _opaque_operation(m, this, name, args, kwargs, site)
    if LEFT_OUT in this.attrs:
        note_given(m, values, name, site)
        return m.call_left_out(name, [this, *values], site)
    if WEIGHTS in this.attrs:
        return m.unknown_result(name, [this.attrs[WEIGHTS], *values], site)
    if with_history or this.node is not None:
        return m.call_unknown(name, [this, *args], kwargs, site)
    if QUIET in this.attrs:
        note_watched(m, values, name, site, if_named=True)
        return m.quiet(name)
    held = this.attrs.get(HELD)
    if isinstance(held, Sequence) and any(True for _ in graph_in(held)):
        return m.unknown_result(name, [held, *values], site)
    if stored_in(this):
        return m.unknown_result(name, [this, *values], site)
    return m.call_unknown(name, args, kwargs, site)


def _takes_no_history(name: str, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """Whether a method is one of tensors that takes a shape, a type, or only the values of the one that it is given.

    What compares has more arguments, or fewer, where it is a method of something else: `losses.ge(scores, labels)`.
    """
    if len(args) + len(kwargs) != 1:
        return False
    row = lookup(name)
    return name in LIKE_ANOTHER or name == "new_tensor" or (
        name in ONLY_OF_TENSORS and row.shape is Shape.BROADCAST and not row.differentiable
    )


def _is_operation(this: Opaque, name: str, values: list[Value]) -> bool:
    """Whether a name that loggers and figures have, too, is that of an operation here: `output.log()`."""
    if name not in TENSOR_ATTRIBUTES:
        return False
    return not values or (this.node is not None and not this.node.weak)


def handed_on(name: str, values: list[Value]) -> list[Value]:
    """Of what a callable out of view is given, that of which its result may have the history.

    A penalty on the gradient of a network is one at points between those that it is given, which as likely as not it
    detaches.
    """
    networks = [v for v in values if is_module(v) or (isinstance(v, Opaque) and WEIGHTS in v.attrs)]
    return networks if networks and names_penalty(name) else values


def _is_of_another(args: list[Value]) -> bool:
    """Whether `backward` is a method of another framework: `net.backward(x, gradient)`.

    What PyTorch takes behind the gradient, and its wrappers behind the loss, are flags or optimizers.
    """
    second = args[1] if len(args) > 1 else None
    is_unknown = isinstance(second, (Tensor, Opaque)) or (isinstance(second, Sym) and second.kind == "")
    return is_unknown and not is_optimizer(second)


def _is_item(call: ast.AST) -> bool:
    """Whether a method is called of one of several, `outputs[k].backward(weights)`: there are few engines."""
    callee = call.func if isinstance(call, ast.Call) else None
    return isinstance(callee, ast.Attribute) and isinstance(callee.value, ast.Subscript)


def _may_rebind(m: Core, this: Opaque, site: Site) -> None:
    """A method that is called for its effect alone, `model.reset()`, may have given the object another state.

    So nothing is assumed of the history of its parts any more.
    """
    statement = m.trail[-1][0] if m.trail else None
    if isinstance(statement, ast.Expr) and statement.value is site.node:
        states = [name for name, value in this.attrs.items() if not is_mark(name) and any(graph_in(value))]
        for name in states:
            del this.attrs[name]
        if this.node is not None and this.node.weak and WEIGHTS not in this.attrs:
            this.node = None


def _is_copy(this: Opaque) -> bool:
    """What a method of a tensor made of something that has no history, as far as anybody knows: `load(x).clone()`."""
    node = this.node
    return node is not None and node.weak and not node.parents and node.op in TENSOR_ATTRIBUTES


def _opaque_view(m: Core, this: Opaque, name: str, site: Site) -> Value:
    def make(exact: bool) -> Iterator[Value]:
        for _ in range(3):
            key, value = m.fresh(), m.part(this, "item", site)
            yield Sequence("tuple", [key, value], m.clock) if name == "items" else key if name == "keys" else value

    return Iterable(make)


def _opaque_operation(
    m: Core, this: Opaque, name: str, args: list[Value], kwargs: dict[str, Value], site: Site
) -> Value:
    """A Tensor method of an unknown value that has history."""
    from autodetach.machine.torch_semantics import NUMBER_METHODS

    if name in NUMBER_METHODS:
        return m.fresh("number" if name in ("dim", "numel") else "")
    if name in ("requires_grad_", "retain_grad", "register_hook"):
        return this
    op = lookup(name)
    if not op.differentiable:
        return tensors.plain()
    result = m.opaque(name)
    result.node = None
    if m.grad_enabled and this.node is not None:
        given = () if name in LIKE_ANOTHER else flatten(args)
        carriers = [this, *[v for v in given if isinstance(v, (Tensor, Opaque)) and v.node is not None]]
        parents = tuple(dict.fromkeys(c.node for c in carriers if c.node is not None))
        result.node = m.new_node(
            name, site, parents, tuple(carriers), saves=op.saved is not Saved.NOTHING,
            assumed=this.node.assumed, weak=all(p.weak for p in parents),
        )  # fmt: skip
    result.scalar = name in ("sum", "mean", "norm") and not args and not kwargs
    if op.outputs in ("pair", "reduce2") and (args or "dim" in kwargs):
        return Sequence("tuple", [result, tensors.plain(None, False)], m.clock)
    return result


def _opaque_backward(m: Core, this: Opaque, args: list[Value], kwargs: dict[str, Value], site: Site) -> None:
    assert isinstance(site.node, ast.Call)
    root = site.node.func.value if isinstance(site.node.func, ast.Attribute) else None
    differentiate_call(m, [this], args[1:], kwargs, site.node, site, root)


def _module_evidence(m: Core, this: Opaque, name: str, site: Site) -> Value:
    """`x.parameters()`, `x.train()`: so `x` is a module."""
    if this.node is not None and not this.node.weak:
        return m.opaque(name)
    leaf = weights_of_network(m, this, site)
    if name in TRAINED and leaf.node is not None:
        leaf.node.presumed = False
    if name == "parameters":
        return Iterable(lambda exact: iter([leaf]), None, name)
    if name == "named_parameters":
        return Iterable(lambda exact: iter([Sequence("tuple", [m.fresh("str"), leaf], m.clock)]), None, name)
    if name in ("train", "eval"):
        return this
    if name in ("children", "modules"):
        return m.items_of(this, site)
    if name in ("named_children", "named_modules"):
        return _opaque_view(m, this, "items", site)
    return m.opaque(name) if name != "load_state_dict" else None


def _switched(m: Core, this: Opaque, flag: Value, site: Site) -> Opaque:
    """`net.requires_grad_(False)`, of a network if it is known to be one."""
    if WEIGHTS in this.attrs:
        tensors.set_requires_grad(m, this.attrs[WEIGHTS], flag, site)
    elif this.node is None or this.node.weak:
        leaf = weights_of_layers(this)
        if leaf is not None:
            tensors.set_requires_grad(m, leaf, flag, site)
        this.attrs[FROZEN] = True
        this.node = None
    return this


def call_opaque_module(m: Core, this: Opaque, args: list[Value], kwargs: dict[str, Value], site: Site) -> Opaque:
    result = m.opaque(this.name)
    result.attrs[GIVEN] = True
    values = [*args, *kwargs.values()]
    weights = this.attrs[WEIGHTS]
    carriers = [weights, *[t for v in values for t in graph_in(v)]]
    strong = [c for c in carriers if c.node is not None and not c.node.weak]
    if m.grad_enabled and strong:
        parents = tuple(dict.fromkeys(c.node for c in strong if c.node is not None))
        saved = ((weights.storage, weights.storage.version),)
        result.node = m.new_node(this.name or "module", site, parents, tuple(strong), saves=True, saved=saved)
    return result
