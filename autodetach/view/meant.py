"""What an expression means in a function that was run: an object, and the methods that its classes have."""

from __future__ import annotations

import ast

from autodetach.machine.classes import linear_order
from autodetach.machine.program_values import Class, Frame, Function, Instance
from autodetach.machine.values import Value


def object_of(expression: ast.expr, frame: Frame) -> Value:
    """What a name, or an attribute of one, `self.runner`, means in a frame; None where that is not known."""
    if isinstance(expression, ast.Attribute):
        this = object_of(expression.value, frame)
        return this.attrs.get(expression.attr) if isinstance(this, Instance) else None
    if not isinstance(expression, ast.Name):
        return None
    at: Frame | None = frame
    while at is not None:
        if expression.id in at.names:
            return at.names[expression.id]
        at = at.outer
    return frame.top.names.get(expression.id)


def classes_of(this: Value) -> list[Class]:
    """The classes in view of an object, its own first."""
    order = linear_order(this.cls) if isinstance(this, Instance) and isinstance(this.cls, Class) else []
    return [cls for cls in order if isinstance(cls, Class)]


def method_of(this: Value, name: str) -> Function | None:
    """The method of an object that has a name; None where it has none in view."""
    found = (cls.names.get(name) for cls in classes_of(this))
    return next((method for method in found if isinstance(method, Function)), None)
