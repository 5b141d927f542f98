"""Functions that run through the parts of tensors which they are given: a scan, whose result is its callers'."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.machine.activations import Activation, pass_of
from autodetach.machine.arguments import parameter_names
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.operands import expression_of
from autodetach.machine.program_values import Frame

PICKS = frozenset("select __getitem__ index index_select narrow part".split())

DERIVATIVE = "grad"
"""What `torch.autograd.grad` gives with `create_graph=True`."""


def is_scan(roots: Iterable[Node], loop: Activation) -> bool:
    """Whether each pass of a function's loop takes only parts of graph that was there before, and what the last made.

    The graph of these parts lives on anyway, as long as the whole that they are parts of, and as many derivatives are
    taken of it as it has parts. Rows of a leaf are such parts if the function is given the leaf: those of a table of
    weights may be asked for again and again.
    """
    frame = loop.frame
    function = frame.function if isinstance(frame, Frame) else None
    given = frozenset[str]() if function is None else parameter_names(function.node.args)
    is_picking = False
    for node in ancestors(roots):
        made = pass_of(node.loops, loop)
        if made is None or made.index == 0:
            continue  # the first pass begins with any state
        for parent in node.parents:
            if pass_of(parent.loops, loop) is not None:
                continue
            if node.op == DERIVATIVE:
                continue
            if node.op not in PICKS or (parent.leaf and not _is_of(node, given)):
                return False
            is_picking = True
    return is_picking


def _is_of(pick: Node, names: frozenset[str]) -> bool:
    """Whether what a part is taken of is called by one of some names."""
    asked = expression_of(pick, pick.operands[0]) if pick.operands else None
    return isinstance(asked, ast.Name) and asked.id in names
