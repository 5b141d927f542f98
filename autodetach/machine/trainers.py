"""Whether a framework's trainer, which is out of view, differentiates what a `training_step` returns."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence

from autodetach.machine.children import children_of
from autodetach.machine.classes import linear_order
from autodetach.machine.program_values import Class, External, Function, Instance
from autodetach.machine.reach import CALLED_BY_TRAINERS
from autodetach.machine.values import Value

AUTOMATIC = "automatic_optimization"
OF_NO_FRAMEWORK = frozenset({"", "torch", "builtins", *sys.stdlib_module_names})
"""Packages whose classes are trained by whoever likes to; relative paths begin with an empty name."""


def is_for_trainers(function: Function, this: Value, trees: Sequence[ast.Module]) -> bool:
    """Whether a method is one that a framework calls: its class derives from one out of view, and nobody in view does.

    Nor does Lightning differentiate anything where the class says that it does so by itself.
    """
    if function.name != CALLED_BY_TRAINERS or not isinstance(this, Instance) or not isinstance(this.cls, Class):
        return False
    return _is_of_framework(this.cls) and not _is_manual(this, this.cls) and not any(map(_has_runner, trees))


def _is_of_framework(cls: Class) -> bool:
    """Whether a class has a base that nobody sees, and which is none of PyTorch or of Python."""
    bases = (base for one in linear_order(cls) if isinstance(one, Class) for base in one.bases)
    return any(not isinstance(base, Class) and not _is_of_no_framework(base) for base in bases)


def _is_of_no_framework(base: Value) -> bool:
    """Whether a base is one of those packages, or of the same one as the class (`from .base import Base`)."""
    return isinstance(base, External) and base.path.split(".")[0] in OF_NO_FRAMEWORK


def _is_manual(this: Instance, cls: Class) -> bool:
    """`self.automatic_optimization = False`, also in the class."""
    written = [this.attrs, *(one.names for one in linear_order(cls) if isinstance(one, Class))]
    return next((names[AUTOMATIC] for names in written if AUTOMATIC in names), None) is False


def _has_runner(tree: ast.Module) -> bool:
    """Whether a file calls the step of an object by itself: `task.training_step(batch, i)`."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == CALLED_BY_TRAINERS
        and not _is_own(node.func.value)
        for node in _outside_of_steps(tree)
    )


def _outside_of_steps(tree: ast.Module) -> Iterator[ast.AST]:
    """What stands in no method that is called `training_step`: one that asks another one is no trainer."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if not isinstance(node, ast.FunctionDef) or node.name != CALLED_BY_TRAINERS:
            yield node
            pending += children_of(node)


def _is_own(node: ast.expr) -> bool:
    """`self`, and `super()`: a method that calls another one of its object."""
    called = node.func if isinstance(node, ast.Call) else node
    return isinstance(called, ast.Name) and called.id in ("self", "super")
