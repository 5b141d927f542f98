"""Passes that change a tensor by mere values, as those of a short loop that raises the scores of a few words."""

from __future__ import annotations

import ast

from autodetach.machine.activations import Activation, pass_of
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.growth import MOVED, PICKED, trains
from autodetach.machine.loops import UNROLLED
from autodetach.machine.program_values import Frame
from autodetach.machine.run import Run
from autodetach.machine.torch_semantics import VIEWS
from autodetach.machine.words import names_loader

PLAIN = frozenset("add sub rsub neg clone __setitem__ index index_put index_add".split()) | PICKED | MOVED | VIEWS
"""What saves no tensor but where it was changed: to multiply saves the other factor in every pass."""


def adds_no_graph(run: Run, child: Node, activation: Activation, carried: ast.expr | None) -> bool:
    """Whether passes make `child` of what those before have left under a name, and of nothing else that has history.

    A loop that trains nothing, and is not known to be long, adds a few nodes so, which go with the name.
    """
    while isinstance(carried, ast.Subscript):
        carried = carried.value
    frame = activation.frame
    if not isinstance(carried, ast.Name) or not isinstance(frame, Frame):
        return False
    if frame.function is not None and frame.function.is_generator:
        return False
    if _may_be_long(activation) or trains(run, activation):
        return False
    if any(pass_of(d.loops, activation) is not None for d in run.machine.differentiations):
        return False
    return _is_made_of_itself(child, activation)


def _is_made_of_itself(child: Node, activation: Activation) -> bool:
    now = pass_of(child.loops, activation)
    for node in ancestors([child]):
        if now not in node.loops:
            continue
        if node.assumed or node.op not in PLAIN:
            return False
        if any(p.leaf or pass_of(p.loops, activation) is None for p in node.parents):
            return False
    return True


def _may_be_long(activation: Activation) -> bool:
    loop = activation.node
    if isinstance(loop, ast.While):
        return isinstance(loop.test, ast.Constant)
    if not isinstance(loop, ast.For) or names_loader(loop.iter):
        return True
    return max(activation.usual or 0, activation.length or 0) > UNROLLED
