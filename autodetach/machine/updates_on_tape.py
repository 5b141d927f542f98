"""Tensors that are rebound by an update from their own gradient, while every backward walks all updates before it."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.machine.activations import Activation, pass_of
from autodetach.machine.cycles import cycle_of
from autodetach.machine.graph import Differentiation, Node, ancestors, trail_of
from autodetach.machine.growth import LINEAR, PICKED, is_returned
from autodetach.machine.program_values import Frame
from autodetach.machine.run import Run
from autodetach.machine.values import Tensor


def updates_on_tape(runs: Iterable[Run]) -> list[Node]:
    """The last update of each place that is one on all paths that come by: nobody needs the graph of the others."""
    found: dict[ast.AST, Node] = {}
    others: set[ast.AST] = set()
    for run in runs:
        for crossing in run.machine.crossings:
            child, parent, activation = crossing.child, crossing.parent, crossing.activation
            if child.site.node in others:
                continue
            before = pass_of(parent.loops, activation)
            cycle = cycle_of(parent, before, child.site.node) if before is not None and not parent.leaf else []
            if not cycle:
                continue
            if run.whole and _is_on_tape(run, cycle, activation):
                found[child.site.node] = child
            else:
                others.add(child.site.node)
    return [node for place, node in found.items() if place not in others]


def _is_on_tape(run: Run, cycle: list[Node], activation: Activation) -> bool:
    """Whether the nodes of a pass update a tensor by its own gradient, and nobody asks for that of what it began as.

    Where a loss behind several updates is differentiated, or gradient is taken to be computed with, they are unrolled.
    """
    walks = {d for node in cycle for d in node.walked_by}
    if not any(_is_by_own_gradient(node, activation) for node in cycle) or activation.in_forward:
        return False
    if any(node.weak or node.assumed or not (node.op in LINEAR or node.op in PICKED) for node in cycle):
        return False
    if any(d.create_graph or d.retain or _is_behind(d, activation) for d in walks):
        return False
    begun_by = next((frame for _, frame in trail_of(cycle[0])), activation.frame)
    if isinstance(begun_by, Frame) and begun_by.outer is not None and is_returned(run, cycle[0], begun_by):
        return False
    if any(escape.reaches(set(cycle)) for escape in run.machine.escapes):
        return False
    begun = {node for node in ancestors(cycle) if node.leaf}
    taken = (pair for step in run.machine.steps for pair in step.consumed)
    return all(leaf not in begun or walks.isdisjoint(ds) for leaf, ds in taken)


def _is_behind(d: Differentiation, activation: Activation) -> bool:
    """Whether a differentiation is in no pass of the loop, also where that is begun anew in passes of an outer one."""
    return all(p.activation.node is not activation.node for p in d.loops)


def _is_by_own_gradient(node: Node, activation: Activation) -> bool:
    """Whether a node changes one of its operands by a gradient that the pass of the node has given."""
    plain = (value for _, value in node.site.operands if isinstance(value, Tensor) and value.node is None)
    given = [d for value in plain for d in value.from_grad]
    return bool(given) and all(
        pass_of(d.loops, activation) in node.loops and not set(node.parents).isdisjoint(d.walked) for d in given
    )
