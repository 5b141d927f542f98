"""Layers that compute a weight whenever they are called, and keep it with its graph until the next call.

Sources: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.weight_norm.html,
https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.spectral_norm.html and
https://docs.pytorch.org/docs/stable/nn.html#utilities for `torch.nn.utils.prune`
"""

from __future__ import annotations

from collections.abc import Callable

from autodetach.machine import tensors
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.marks import PREHOOKS
from autodetach.machine.module_tree import is_module
from autodetach.machine.program_values import Instance, Native
from autodetach.machine.torch_semantics import Op, Saved
from autodetach.machine.values import Sequence, Tensor, Value
from autodetach.named_tuples import NamedTuple


class Way(NamedTuple):
    """How a weight is computed: of the parameter that was the weight, and of the `others`, which are new.

    `parameter` and `others` are what follows the name of the weight in theirs. `at_once`: it is computed when the layer
    is told to, not only by its first call.
    """

    parameter: str
    others: tuple[str, ...]
    op: Op
    at_once: bool = True


WAYS: dict[str, Way] = {
    "weight_norm": Way("_v", ("_g",), Op(Saved.OPERANDS)),
    "spectral_norm": Way("_orig", (), Op(Saved.INPUT), at_once=False),
    "prune": Way("_orig", (), Op(Saved.OPAQUE)),
}
"""By the function that has a layer do so."""
COMPUTED = frozenset(WAYS)
"""The operations of the nodes of such weights."""
HOOK = "weight computed: "
"""Stands in front of the name of a weight, as the name of what computes it."""


def keep_weight(m: Core, way: str, module: Value, name: Value, site: Site) -> bool:
    """Have a layer compute its weight in one of the `WAYS` from now on; False where that is out of view."""
    if not (is_module(module) and isinstance(name, str)):
        return False
    weight, (parameter, others, _, at_once) = module.attrs.get(name), WAYS[way]
    hook = Native(HOOK + name, _computing(m, name, way))
    if not (isinstance(weight, Tensor) and weight.parameter):
        is_kept = way == "prune" and name + parameter in module.attrs  # pruned once more
        if is_kept:
            hook.call([module], {}, site)
        return is_kept
    if weight.node is not None:
        for other in others:
            made = Tensor()
            made.parameter = True
            made.born = m.clock
            module.attrs[name + other] = m.require_grad(made, site)
        module.attrs[name + parameter] = weight
        m.weights_kept.append((module, name))
        module.attrs.setdefault(PREHOOKS, Sequence("list", [], m.clock)).items.append(hook)
        if at_once:
            hook.call([module], {}, site)
        else:
            module.attrs[name] = tensors.plain(weight.shape, True)
    return True


def keep_no_weight(way: str, module: Value, name: Value) -> None:
    """Have the weight be a parameter as before."""
    parameter, others, _, _ = WAYS[way]
    hooks = module.attrs.get(PREHOOKS) if isinstance(module, Instance) else None
    if isinstance(hooks, Sequence) and isinstance(name, str) and name + parameter in module.attrs:
        hooks.items[:] = [h for h in hooks.items if not (isinstance(h, Native) and h.name == HOOK + name)]
        if not hooks.items:
            del module.attrs[PREHOOKS]
        module.attrs[name] = module.attrs.pop(name + parameter)
        for other in others:
            module.attrs.pop(name + other, None)


def _computing(m: Core, name: str, way: str) -> Callable[[list[Value], dict[str, Value], Site], Value]:
    """What a layer is given before each of its calls, as a hook."""
    parameter, others, op, _ = WAYS[way]

    def compute(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        attrs = args[0].attrs
        parts = [attrs.get(name + part) for part in (parameter, *others)]
        if all(isinstance(part, Tensor) for part in parts):
            attrs[name] = m.derive(way, op, parts, site, parts[0].shape)
        return None

    return compute
