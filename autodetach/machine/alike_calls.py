"""Calls of one callable that nobody knows: what one of them gave, the others give, if they are written alike.

Who trains with `criterion(output, target)` evaluates with it, too: it gives a tensor with history there as well, and a
scalar if it did.
"""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.graph import Node
from autodetach.machine.marks import DIFFERENTIATED, SCALAR, WEIGHTS
from autodetach.machine.values import Opaque


def note_differentiated(node: Node) -> None:
    """What a callable has given back is differentiated."""
    callee = node.callee
    if isinstance(callee, Opaque) and not node.weak:
        callee.attrs[_mark(node.site.node)] = True


def is_given_alike(node: Node) -> bool:
    """Whether a callable has given back something that has history if its arguments have, as another call shows."""
    callee = node.callee
    return isinstance(callee, Opaque) and not node.weak and _mark(node.site.node) in callee.attrs


def note_scalar(node: Node) -> bool:
    """What a callable has given back is a scalar; whether that tells of its other calls."""
    mark = _mark_of_scalar(node)
    if mark and isinstance(node.callee, Opaque):
        node.callee.attrs[mark] = True
    return bool(mark)


def is_scalar_alike(node: Node | None) -> bool:
    """Whether a callable has given back a scalar in another call, of the same attributes."""
    callee = None if node is None else node.callee
    return node is not None and isinstance(callee, Opaque) and _mark_of_scalar(node) in callee.attrs


def set_otherwise(callee: Opaque) -> None:
    """A callable is told to go another way, as by `criterion.reduction = "none"`: it may give no scalars any more."""
    for mark in [name for name in callee.attrs if isinstance(name, str) and name.startswith(SCALAR)]:
        del callee.attrs[mark]


def _mark_of_scalar(node: Node) -> str:
    """No mark for a network, which may give something else where it is not trained."""
    call, callee = node.site.node, node.callee
    if not isinstance(callee, Opaque) or WEIGHTS in callee.attrs or not isinstance(call, ast.Call):
        return ""
    return SCALAR + given if (given := _attributes_in(call)) else ""


@kept
def _attributes_in(call: ast.Call) -> str:
    """The arguments of `self.criterion(self.output, self.target)`; local names stand for anything in each function."""
    is_alike = len(call.args) > 1 and all(isinstance(a, ast.Attribute) for a in call.args) and not call.keywords
    return ", ".join(map(ast.unparse, call.args)) if is_alike else ""


def _mark(call: ast.AST) -> str:
    return _mark_of(call) if isinstance(call, ast.Call) else DIFFERENTIATED


@kept
def _mark_of(call: ast.Call) -> str:
    """The mark of calls that have as many arguments, the same keywords, and the same constants: `training=False`."""
    constants = [ast.unparse(a) for a in call.args if isinstance(a, ast.Constant)]
    constants += [ast.unparse(k) for k in call.keywords if isinstance(k.value, ast.Constant)]
    return f"{DIFFERENTIATED}{len(call.args)} {[k.arg for k in call.keywords]} {constants}"
