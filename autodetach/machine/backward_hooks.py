"""Functions that PyTorch calls while it differentiates: those that `register_hook` and its kin are given."""

from __future__ import annotations

from collections.abc import Callable

from autodetach.machine.classes import code_of
from autodetach.machine.core import Core
from autodetach.machine.graph import Differentiation, Site
from autodetach.machine.module_tree import is_module
from autodetach.machine.tensors import plain
from autodetach.machine.values import External, Instance, Native, Opaque, Sequence, Tensor, Value

OF_MODULES = frozenset("register_backward_hook register_full_backward_hook register_full_backward_pre_hook".split())
OF_TENSORS = frozenset({"register_hook", "register_post_accumulate_grad_hook"})
NAMES = OF_MODULES | OF_TENSORS


def register(m: Core, this: Value, name: str, hook: Value) -> Value:
    """The handle by which a hook can be removed. A function that is not in view changes nothing in view."""
    handle = removable(m, lambda: handle.attrs.update({"#hook": None}))
    handle.attrs.update({"#of": this, "#name": name, "#hook": hook})
    if code_of(hook) is not None:
        m.hooks.append(handle)
    return handle


def removable(m: Core, remove: Callable[[], None]) -> Instance:
    """What every kind of hook is registered by: an object that takes it away again."""
    handle = Instance(External("torch.utils.hooks.RemovableHandle"), m.serial(), m.clock)
    handle.attrs["remove"] = Native("remove", lambda args, kwargs, site: remove())
    return handle


def run(m: Core, d: Differentiation, site: Site) -> None:
    """Call the hooks of what was differentiated, with gradients of which nothing is known.

    Which modules a graph has come through nobody notes, so that those of all are called.
    https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
    """
    hooks, m.hooks = m.hooks, []  # what a hook differentiates calls none
    before, m.grad_enabled = m.grad_enabled, d.create_graph
    try:
        for handle in hooks:
            hook, this, name = (handle.attrs[key] for key in ("#hook", "#of", "#name"))
            if hook is not None and (not isinstance(this, Tensor) or this.node in d.walked):
                m.call(hook, _given(m, this, name), {}, site)
    finally:
        m.grad_enabled = before
        m.hooks = [*hooks, *m.hooks]


def _given(m: Core, this: Value, name: Value) -> list[Value]:
    """The arguments of a hook: a gradient, or a module and those of its inputs and of its outputs."""
    if name == "register_post_accumulate_grad_hook":
        return [this]
    if name == "register_hook":
        return [plain(this.shape if isinstance(this, Tensor) else None, True)]
    gradients: list[Value] = [Sequence("tuple", [plain(None, True)], m.clock) for _ in range(2)]
    return [this, *(gradients[:1] if name == "register_full_backward_pre_hook" else gradients)]


def takes_hook(this: Value, name: str) -> bool:
    """Whether a method of a value gives it a function for what comes back to it when it is differentiated."""
    if isinstance(this, Opaque):
        return name in NAMES
    return name in (OF_MODULES if is_module(this) else OF_TENSORS)
