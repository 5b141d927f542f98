"""The methods of `torch.nn.Module`."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine import tensors
from autodetach.machine.backward_hooks import removable
from autodetach.machine.called_unseen import ask_for_state, register
from autodetach.machine.convolutions import convolve, is_convolution
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.held import contents
from autodetach.machine.marks import HOOKS, ITEMS, PREHOOKS
from autodetach.machine.module_calls import names_in_nn
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
from autodetach.machine.part_names import forget, set_by_part
from autodetach.machine.program_values import Class, Function, Instance, Iterable, Method
from autodetach.machine.steering import taken
from autodetach.machine.torch_semantics import MODULES
from autodetach.machine.values import Mapping, Sequence, Value

STATE_HOOKS = frozenset(
    """
    _register_state_dict_hook _register_load_state_dict_pre_hook register_state_dict_pre_hook
    register_state_dict_post_hook register_load_state_dict_pre_hook register_load_state_dict_post_hook
    """.split()
)
MODULE_METHODS = STATE_HOOKS | frozenset(
    """
    parameters named_parameters children named_children modules named_modules train eval to cuda cpu float double half
    bfloat16 type apply share_memory zero_grad requires_grad_ state_dict load_state_dict register_buffer
    register_parameter add_module register_module register_forward_hook register_forward_pre_hook register_backward_hook
    register_full_backward_hook buffers named_buffers get_parameter get_buffer get_submodule extra_repr
    _conv_forward
    """.split()
)


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
    if name in STATE_HOOKS:
        # Most of them are given the module.
        register(m, [Method(hook, this) if isinstance(hook, Function) else hook for hook in args], site)
        return m.call_unknown(name, args, kwargs, site)
    if name.startswith("register_"):
        return m.opaque("handle")
    if name in ("state_dict", "load_state_dict"):
        ask_for_state(m, this, site)
    if name == "state_dict":
        return state_dict(m, this)
    if name == "load_state_dict":
        wanted(m, [*args, *kwargs.values()], site, name)
        taken(m, contents(args[0]) if args and isinstance(args[0], (Sequence, Mapping)) else args, site)
        for _, tensor in named_tensors(this):
            m.change_in_place(tensor, site)
        return m.opaque(name)
    if name == "_conv_forward":
        conv = next((n for n in names_in_nn(this.cls) if is_convolution(n)), None)
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
    spec = next((MODULES[n] for n in names_in_nn(module.cls) if n in MODULES), None)
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
