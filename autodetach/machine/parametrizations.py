"""`torch.nn.utils.parametrize`: what is computed anew from a parameter wherever it is read, unless `cached()` keeps it.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrize.cached.html
"""

from __future__ import annotations

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.module_tree import modules_of
from autodetach.machine.program_values import Instance, Native
from autodetach.machine.restraints import WeightShared
from autodetach.machine.torch_semantics import Op, Saved
from autodetach.machine.values import Sequence, Tensor, Value

CACHED = "torch.nn.utils.parametrize.cached"
BY = "#parametrized by:"
"""Stands in front of the name of a parameter, and has the modules that compute what is read."""


WAYS: dict[str, Op] = {"orthogonal": Op(Saved.OPAQUE), "spectral_norm": Op(Saved.INPUT), "weight_norm": Op(Saved.INPUT)}
"""By their functions, what the parametrizations of `torch.nn.utils.parametrizations` do."""


def of_library(m: Core, name: str) -> Native:
    """A parametrization of the library, of which `WAYS` tells; it computes a weight of one of the same shape."""

    def compute(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        weight = args[0]
        if not isinstance(weight, Tensor):
            return weight
        return m.derive(f"parametrizations.{name}", WAYS[name], [weight], site, weight.shape)

    return Native(name, compute)


def register(m: Core, module: Value, name: Value, parametrization: Value) -> Value:
    """`register_parametrization(module, name, parametrization)`."""
    if isinstance(module, Instance) and isinstance(name, str):
        m.parametrizes = True
        by = module.attrs.setdefault(BY + name, Sequence("list", [], m.clock))
        by.items.append(parametrization)
        # Their own parameters are parameters of the module.
        module.attrs[f"{BY}{name}.{len(by.items)}"] = parametrization
    return module


def remove(module: Value, name: Value) -> Value:
    """`remove_parametrizations(module, name)`: what was computed last is the parameter."""
    if isinstance(module, Instance) and isinstance(name, str):
        by = module.attrs.pop(BY + name, None)
        for i in range(len(by.items) if isinstance(by, Sequence) else 0):
            module.attrs.pop(f"{BY}{name}.{i + 1}", None)
    return module


def is_parametrized(m: Core, this: Instance, name: str) -> bool:
    """Whether a parameter is computed when it is read."""
    return m.parametrizes and BY + name in this.attrs


def computed(m: Core, this: Instance, name: str, site: Site) -> Value:
    """What is read of a parameter that is parametrized."""
    key = (this, name)
    kept = m.parametrized
    if kept is not None and key in kept:
        return kept[key]
    value: Value = this.attrs[name]
    loops = m.loops
    if kept is not None:
        m.loops = m.cached_since
    try:
        for parametrization in this.attrs[BY + name].items:
            value = m.call(parametrization, [value], {}, site)
        if kept is not None and not isinstance(value, Tensor):
            value = _unseen(m, this.attrs[name], site)
    finally:
        m.loops = loops
    if kept is not None:
        kept[key] = value
    return value


def _unseen(m: Core, parameter: Value, site: Site) -> Value:
    """What code out of view computes of a parameter, of which nobody knows what it saves, and all calls share it."""
    if not isinstance(parameter, Tensor):
        return parameter
    made = m.derive("parametrization", Op(Saved.NOTHING), [parameter], site, parameter.shape)
    if made.node is not None:
        m.restraints.append(WeightShared(made.node))
    return made


def weights_of(m: Core, this: Instance, weights: list[Tensor], site: Site) -> list[Tensor]:
    """The parameters with which a module computes: `weights`, or what is computed of them."""
    if not m.parametrizes:
        return weights
    names = {
        id(v): (module, n) for module in modules_of(this) for n, v in module.attrs.items() if BY + n in module.attrs
    }
    return [_weight(computed(m, *names[id(w)], site), w) if id(w) in names else w for w in weights]


def _weight(value: Value, parameter: Tensor) -> Tensor:
    """What a module computes with; the parameter itself where what comes of it is not in view."""
    return value if isinstance(value, Tensor) and value.node is not None else parameter
