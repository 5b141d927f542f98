"""Classes of the file: the order of look-up, and functions under a gradient mode."""

from __future__ import annotations

from autodetach.machine.values import Class, External, Function, GradMode


def linear_order(cls: Class) -> list[Class | External]:
    """Classes in the order of look-up: depth first, the last of repeated bases kept, as far as they are in view."""
    if cls.order is not None:
        return cls.order
    order: list[Class | External] = []
    _visit(cls, order)
    cls.order = order
    return order


def _visit(cls: Class | External, order: list[Class | External]) -> None:
    if cls in order:
        order.remove(cls)
    order.append(cls)
    if isinstance(cls, Class):
        for base in cls.bases:
            if isinstance(base, (Class, External)):
                _visit(base, order)


def library_bases(cls: Class | External) -> list[str]:
    """Paths of the bases that are not in view, `object` left out."""
    if isinstance(cls, External):
        return [cls.path]
    return [c.path for c in linear_order(cls) if isinstance(c, External) and c.path != "builtins.object"]


def decorate(mode: GradMode, function: Function) -> Function:
    """The function run under a gradient mode."""
    wrapped = Function(
        function.node, function.frame, function.name, function.qualname, function.defaults, function.kwdefaults
    )
    wrapped.attrs = function.attrs
    wrapped.is_generator = function.is_generator
    wrapped.owner = function.owner
    wrapped.grad_mode = mode.enabled if isinstance(mode.enabled, bool) else None
    return wrapped
