"""Functions that an optimizer calls before and behind each of its steps."""

from __future__ import annotations

from autodetach.machine.backward_hooks import removable
from autodetach.machine.classes import code_of
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.marks import HOOK, HOOKED
from autodetach.machine.program_values import Instance
from autodetach.machine.values import Mapping, Opaque, Sequence, Value

BEFORE, BEHIND = "step_pre_hook", "step_post_hook"
OF_ONE: dict[str, str] = {"register_" + kind: kind for kind in (BEFORE, BEHIND)}
OF_ALL = {"register_optimizer_" + kind: kind for kind in (BEFORE, BEHIND)}
"""Those of `torch.optim.optimizer`, for whatever optimizer steps."""


def register(m: Core, this: Value, kind: str, hook: Value) -> Value:
    """The handle by which a hook can be removed. A function that is not in view changes nothing in view."""
    handle = removable(m, lambda: handle.attrs.update({HOOK: None}))
    handle.attrs.update({HOOKED: this, "#kind": kind, HOOK: hook})
    if code_of(hook) is not None:
        m.step_hooks.append(handle)
    return handle


def run(m: Core, this: Instance | Opaque, kind: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> None:
    """Call the hooks of an optimizer, and those of all, with it and with what its step is given.

    https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.register_step_post_hook.html
    """
    for handle in list(m.step_hooks):
        hook, owner = handle.attrs[HOOK], handle.attrs[HOOKED]
        if hook is None or handle.attrs["#kind"] != kind or (owner is not None and owner is not this):
            continue
        named = Mapping(m.clock)
        named.items.update({m.key(name): (name, value) for name, value in kwargs.items()})
        m.call(hook, [this, Sequence("tuple", [this, *args], m.clock), named], {}, site)
