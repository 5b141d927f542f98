"""`torch.nn.utils.weight_norm`: a layer computes its weight whenever it is called, and keeps it until the next call.

Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.weight_norm.html
"""

from __future__ import annotations

from collections.abc import Callable

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.marks import PREHOOKS
from autodetach.machine.program_values import Class, Instance, Native
from autodetach.machine.torch_semantics import Op, Saved
from autodetach.machine.values import Sequence, Tensor, Value

HOOK = "weight_norm:"
"""Stands in front of the name of a weight, as the name of what computes it."""


def norm(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`weight_norm(module, name)`, of a class in view, whose methods may read the weight without a call."""
    module, name = _given(args, kwargs)
    weight = module.attrs.get(name) if isinstance(module, Instance) and isinstance(module.cls, Class) else None
    if isinstance(weight, Tensor) and weight.parameter and weight.node is not None:
        size = Tensor()
        size.parameter = True
        size.born = m.clock
        module.attrs[f"{name}_g"] = m.require_grad(size, site)
        module.attrs[f"{name}_v"] = weight
        hook = Native(HOOK + name, _computing(m, name))
        module.attrs.setdefault(PREHOOKS, Sequence("list", [], m.clock)).items.append(hook)
        hook.call([module], {}, site)
    return module


def remove(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`remove_weight_norm(module, name)`: the weight is a parameter as before."""
    module, name = _given(args, kwargs)
    hooks = module.attrs.get(PREHOOKS) if isinstance(module, Instance) else None
    if isinstance(hooks, Sequence) and f"{name}_v" in module.attrs:
        hooks.items[:] = [h for h in hooks.items if not (isinstance(h, Native) and h.name == HOOK + name)]
        module.attrs[name] = module.attrs.pop(f"{name}_v")
        module.attrs.pop(f"{name}_g", None)
    return module


def _given(args: list[Value], kwargs: dict[str, Value]) -> tuple[Value, str]:
    given = dict(zip(("module", "name"), args, strict=False)) | kwargs
    name = given.get("name", "weight")
    return given.get("module"), name if isinstance(name, str) else ""


def _computing(m: Core, name: str) -> Callable[[list[Value], dict[str, Value], Site], Value]:
    """What a layer is given before each of its calls, as a hook."""

    def compute(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        attrs = args[0].attrs
        parts = [attrs.get(f"{name}_v"), attrs.get(f"{name}_g")]
        if all(isinstance(part, Tensor) for part in parts):
            attrs[name] = m.derive("_weight_norm", Op(Saved.OPERANDS), parts, site, parts[0].shape)
        return None

    return compute
