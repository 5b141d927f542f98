"""Layers that keep the weight of their last call, and that code out of view may call: it is the weight of then, or not.
"""

from __future__ import annotations

from collections.abc import Iterable

from autodetach.machine.core import Core
from autodetach.machine.handed_networks import DEPTH, networks_in
from autodetach.machine.module_tree import modules_of
from autodetach.machine.program_values import Instance
from autodetach.machine.values import Tensor, Value


def note_callable(m: Core, values: list[Value]) -> None:
    """Note that code out of view is given the networks among some values, or in what holds them, and may call them."""
    if m.weights_kept:
        given = {module for network in networks_in(values, DEPTH) for module in modules_of(network)}
        _may_be_others(m, ((module, name) for module, name in m.weights_kept if module in given))


def note_entered(m: Core) -> None:
    """Note that somebody out of view calls something, and may have called any layer before."""
    _may_be_others(m, m.weights_kept)


def _may_be_others(m: Core, weights: Iterable[tuple[Instance, str]]) -> None:
    for module, name in weights:
        weight = module.attrs.get(name)
        if isinstance(weight, Tensor) and weight.node is not None and not weight.node.leaf:
            m.perhaps_renewed.add(weight.node)
