"""Functions that PyTorch calls while it differentiates: those that `register_hook` and its kin are given."""

from __future__ import annotations

from collections.abc import Callable

from autodetach.machine.classes import code_of
from autodetach.machine.core import Core
from autodetach.machine.differentiation import walk_on
from autodetach.machine.graph import Differentiation, Node, Site
from autodetach.machine.implicit_calls import own_method
from autodetach.machine.marks import HOOK, HOOK_NAME, HOOKED
from autodetach.machine.module_tree import is_module, parameters_of
from autodetach.machine.program_values import Class, External, Instance, Namespace, Native
from autodetach.machine.restraints import GradientWatched
from autodetach.machine.second_derivatives import ASSUMED, gradients_with_history
from autodetach.machine.tensors import plain
from autodetach.machine.told_of_values import is_number
from autodetach.machine.unfreed import Paused
from autodetach.machine.values import Opaque, Sequence, Tensor, Value

OF_MODULES = frozenset("register_backward_hook register_full_backward_hook register_full_backward_pre_hook".split())
OF_TENSORS = frozenset({"register_hook", "register_post_accumulate_grad_hook"})
NAMES = OF_MODULES | OF_TENSORS


def register(m: Core, this: Value, name: str, hook: Value, site: Site) -> Value:
    """The handle by which a hook can be removed. A function that is not in view changes nothing in view."""
    if isinstance(this, Tensor) and this.node is None:
        m.type_fault(site, f"calls `{name}` of what does not require grad", "hook")
    watched = parameters_of(this) if isinstance(this, Instance) else [this]
    nodes = [v.node for v in watched if isinstance(v, (Tensor, Opaque)) and v.node is not None]
    m.restraints.append(GradientWatched(site, tuple(nodes), m.clock))
    handle = removable(m, lambda: handle.attrs.update({HOOK: None}))
    handle.attrs.update({HOOKED: this, HOOK_NAME: name, HOOK: hook})
    if code_of(hook) is not None:
        m.hooks.append(handle)
    return handle


def removable(m: Core, remove: Callable[[], None]) -> Instance:
    """What every kind of hook is registered by: an object that takes it away again."""
    handle = Instance(External("torch.utils.hooks.RemovableHandle"), m.serial(), m.clock)
    handle.attrs["remove"] = Native("remove", lambda args, kwargs, site: remove())
    return handle


def run(m: Core, d: Differentiation, site: Site) -> None:
    """Call the hooks of what was differentiated, with gradients of which nothing is known but their history.

    Which modules a graph has come through nobody notes, so that those of all are called.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
    """
    hooks, m.hooks = m.hooks, []  # what a hook differentiates calls none
    before, m.grad_enabled, m.in_backward = m.grad_enabled, d.create_graph, True
    try:
        bent = gradients_with_history(d) if hooks else {}
        m.spend(len(d.walked) // 8 if d.create_graph else 0)
        for handle in hooks:
            hook, this, name = (handle.attrs[key] for key in (HOOK, HOOKED, HOOK_NAME))
            if hook is not None and (not isinstance(this, Tensor) or this.node in d.walked):
                m.paused = Paused(d, this.node if isinstance(this, (Tensor, Opaque)) else _made_by(this, d))
                known = len(m.differentiations)
                m.call(hook, _given(m, this, name, d, bent), {}, site)
                _go_on(m, d, m.paused, m.differentiations[known:], handle)
    finally:
        m.grad_enabled, m.in_backward, m.paused = before, False, None
        m.hooks = [*hooks, *m.hooks]


def _go_on(m: Core, d: Differentiation, paused: Paused, inside: list[Differentiation], handle: Instance) -> None:
    """Behind a hook, walk what is still ahead: that raises where the hook has freed some of it."""
    for inner in inside:
        inner.within = d
        inner.calls_itself = handle.attrs[HOOK] is not None and paused.calls_again(inner)
    walk_on(m, d, [n for inner in inside for n in inner.walked if n.freed_by is inner and paused.is_ahead(n)])


def _given(m: Core, this: Value, name: Value, d: Differentiation, bent: dict[Node, int]) -> list[Value]:
    """The arguments of a hook: a gradient, or a module and those of its inputs and of its outputs."""
    if name == "register_post_accumulate_grad_hook":
        return [this]
    if name == "register_hook":
        node = this.node if isinstance(this, (Tensor, Opaque)) else None
        return [_gradient(m, d, this, node, bent)]
    made = _made_by(this, d) if bent else None
    gradients: list[Value] = []
    for node in (_into(made), made):
        gradients.append(Sequence("tuple", [_gradient(m, d, None, node, bent)], m.clock))
    return [this, *(gradients[1:] if name == "register_full_backward_pre_hook" else gradients)]


def _gradient(m: Core, d: Differentiation, of: Value, node: Node | None, bent: dict[Node, int]) -> Tensor:
    """A gradient, with a graph of its own where it is known to have one."""
    gradient = plain(of.shape if isinstance(of, Tensor) else None, True)
    level = bent.get(node, 0) if node is not None else 0
    if node is not None and level and not node.weak:
        parents, operands = tuple(dict.fromkeys((*d.roots, node))), () if of is None else (of,)
        gradient.node = m.new_node("grad", d.site, parents, operands, saves=True, assumed=level == ASSUMED)
    return gradient


def _made_by(this: Value, d: Differentiation) -> Node | None:
    """What a layer has computed, where it has weights of its own and was called once."""
    if not isinstance(this, Instance) or not isinstance(this.cls, External):
        return None
    own = {t.node for t in this.attrs.values() if isinstance(t, Tensor) and t.parameter and t.node is not None}
    made = [n for n in d.walked if n.op == this.cls.name and not own.isdisjoint(n.parents)]
    return made[0] if len(made) == 1 else None


def _into(made: Node | None) -> Node | None:
    """The only one that is no weight of what a layer computes with."""
    given = [n for n in made.parents if not n.leaf] if made is not None else []
    return given[0] if len(given) == 1 else None


def takes_hook(this: Value, name: str) -> bool:
    """Whether a method of a value gives it a function for what comes back to it when it is differentiated."""
    if isinstance(this, Instance):
        is_own = name in this.attrs or own_method(this, name) is not None
        return not is_own and name in (OF_MODULES if is_module(this) else OF_TENSORS)
    if is_number(this):
        return False
    return name in (NAMES if isinstance(this, Opaque) else OF_TENSORS) and not isinstance(this, (Class, Namespace))
