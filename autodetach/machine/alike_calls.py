"""Calls of one callable that nobody knows: what one of them gave, the others give, if they are written alike.

Who trains with `criterion(output, target)` evaluates with it, too: it gives a tensor with history there as well.
"""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.graph import Node
from autodetach.machine.marks import DIFFERENTIATED
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


def _mark(call: ast.AST) -> str:
    return _mark_of(call) if isinstance(call, ast.Call) else DIFFERENTIATED


@kept
def _mark_of(call: ast.Call) -> str:
    """The mark of calls that have as many arguments, the same keywords, and the same constants: `training=False`."""
    constants = [ast.unparse(a) for a in call.args if isinstance(a, ast.Constant)]
    constants += [ast.unparse(k) for k in call.keywords if isinstance(k.value, ast.Constant)]
    return f"{DIFFERENTIATED}{len(call.args)} {[k.arg for k in call.keywords]} {constants}"
