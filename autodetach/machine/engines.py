"""What differentiates and trains for a program: engines and accelerators, scalers of gradients."""

from __future__ import annotations

import ast

from autodetach.machine import operations
from autodetach.machine.core import Core
from autodetach.machine.differentiation import differentiate_call
from autodetach.machine.graph import Site
from autodetach.machine.number_readers import wanted
from autodetach.machine.optimizers import is_optimizer, optimizer_step
from autodetach.machine.program_values import Function, Instance, Method
from autodetach.machine.steering import scheduled
from autodetach.machine.torch_semantics import lookup
from autodetach.machine.values import Opaque, Sequence, Tensor, Value


def wrapped_backward(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`accelerator.backward(loss)`, `fabric.backward(loss)`, `engine.backward(loss)`, `self.manual_backward(loss)`."""
    assert isinstance(site.node, ast.Call)
    first = args[0] if args else kwargs.get("loss")
    root = site.node.args[0] if site.node.args else None
    differentiate_call(m, [first], args[1:], kwargs, site.node, site, root, "wrapper")
    return None


def opaque_step(m: Core, this: Opaque, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`step` of something unknown, which may be an optimizer, or be given one, or schedule a rate."""
    for value in [*args, *kwargs.values()]:
        if is_optimizer(value):
            return optimizer_step(m, value, [], {}, site)
    if is_optimizer(this) or any(isinstance(a, (Function, Method)) for a in (*args, *kwargs.values())):
        return optimizer_step(m, this, args, kwargs, site)
    scheduled(m, [*args, *kwargs.values()], site)
    return m.opaque("step")


def opaque_scaler(m: Core, name: str, args: list[Value], site: Site) -> Value:
    """`torch.amp.GradScaler`."""
    if name == "scale" and args:
        value = args[0]
        wanted(m, [value], site, name)
        if isinstance(value, Tensor):
            return m.derive("mul", lookup("mul"), [value, m.fresh("number")], site, value.shape, is_float=True)
        if isinstance(value, Sequence):
            return Sequence(value.kind, [opaque_scaler(m, name, [v], site) for v in value.items], m.clock)
        return operations.opaque_operator(m, "mul", value, m.fresh("number"), site)
    if name == "step" and args and isinstance(args[0], (Instance, Opaque)):
        if is_optimizer(args[0]):
            return optimizer_step(m, args[0], [], {}, site)
        return m.call_method(args[0], "step", args[1:], {}, site)
    return m.fresh("number") if name.startswith("get_") else None
