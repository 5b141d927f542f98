"""`torch.no_grad` and its kin: whether gradients are recorded, in a block, in a function, or from now on."""

from __future__ import annotations

from autodetach.machine.classes import decorate
from autodetach.machine.core import Core
from autodetach.machine.program_values import Function
from autodetach.machine.values import GradMode, Value

GRAD_MODES = {
    "no_grad": False, "enable_grad": True, "inference_mode": False, "set_grad_enabled": True, "_set_grad_enabled": True,
}  # fmt: skip


def grad_mode_of(path: str) -> bool | None:
    """The mode that `torch.no_grad` and its kin set, by their path."""
    return GRAD_MODES.get(path.rpartition(".")[2]) if path.startswith("torch.") else None


def make_grad_mode(m: Core, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    mode = GradMode(GRAD_MODES[name])
    if name in ("set_grad_enabled", "_set_grad_enabled") or (name == "inference_mode" and (args or kwargs)):
        value = args[0] if args else next(iter(kwargs.values()), True)
        enabled = value if not isinstance(value, int) else bool(value)
        if name == "inference_mode":
            mode.enabled = not enabled if isinstance(enabled, bool) else False
            return mode
        mode.enabled = enabled
        mode.previous.append(m.grad_enabled)
        if isinstance(enabled, bool):
            m.grad_enabled = enabled
    elif args and isinstance(args[0], Function):
        return decorate(mode, args[0])
    return mode
