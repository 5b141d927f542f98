"""Functions that a network out of view calls with what one of its layers computes."""

from __future__ import annotations

from collections.abc import Callable

from autodetach.machine.backward_hooks import removable
from autodetach.machine.classes import code_of
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.values import Opaque, Sequence, Value

HOOKS = "#forward_hooks"
"""Keeps, at a layer and at all that it belongs to, its hooks, each behind the layer that it was registered at."""


def register(m: Core, layer: Opaque, hook: Value) -> Value:
    """`net.layer4.register_forward_hook(hook)`: calling the layer calls the hook, and so does calling what has it."""
    registered = Sequence("tuple", [layer, hook], m.clock)
    places = []
    owner: Opaque | None = layer if code_of(hook) is not None else None
    while owner is not None:
        places.append(owner.attrs.setdefault(HOOKS, Sequence("list", [], m.clock)))
        places[-1].items.append(registered)
        owner = owner.owner

    def remove() -> None:
        for hooks in places:
            if registered in hooks.items:
                hooks.items.remove(registered)

    return removable(m, remove)


def run(m: Core, network: Opaque, args: list[Value], site: Site, call: Callable[[list[Value]], Value]) -> list[Value]:
    """The arguments of a call of a network, gone through the layers that have hooks; these are called.

    What a layer computes is taken for what the network makes of its arguments so far.
    """
    hooks = network.attrs.get(HOOKS)
    if not isinstance(hooks, Sequence):
        return args
    for registered in list(hooks.items):
        layer, hook = registered.items
        output = call(args)
        m.call(hook, [layer, Sequence("tuple", args[:1], m.clock), output], {}, site)
        args = [output, *args[1:]]
    return args
