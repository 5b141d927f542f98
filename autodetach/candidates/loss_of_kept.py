"""Losses of what a loop has kept, which nothing differentiates: a trial, as of the shapes of a decoder's outputs."""

from __future__ import annotations

from autodetach.candidates.called_out_of_view import is_evaluated
from autodetach.machine.activations import pass_of
from autodetach.machine.graph import Node
from autodetach.machine.growth import Growth
from autodetach.machine.loss_options import OF_LOSSES
from autodetach.machine.run import Run
from autodetach.machine.told_of_values import is_scalar
from autodetach.machine.torch_facts import Shape
from autodetach.machine.torch_semantics import lookup
from autodetach.machine.untrained import leaves_of
from autodetach.machine.values import Tensor

TRIED = "a loss is computed of what is kept, before anything is trained: who trains with that loss needs its graph"
COMPARING = frozenset("dist gather rsub sub subtract".split())
"""What stands between outputs and targets in a loss that is written out."""


def doubt_of_loss(growth: Growth) -> str | None:
    """Why a cut in front of a loss may be no repair: that is differentiated as soon as its training is written.

    Of what was trained before, or is in `eval()` mode, or where the loop takes gradient itself, it is a measure.
    """
    if growth.dead or any(is_scalar(e.value) for e in growth.elements):
        return None
    if any(pass_of(d.loops, growth.activation) is not None for d in growth.run.machine.differentiations):
        return None
    losses = [node for node in _losses(growth) if not node.walked_by]
    if not losses or is_evaluated(growth):
        return None
    return None if any(_is_trained_before(growth.run, node) for node in losses) else TRIED


def _losses(growth: Growth) -> list[Node]:
    """What is made behind the loop of what grows, and is a loss."""
    places = {growth.node.site.node, *(e.node.site.node for e in growth.elements)}
    made: set[Node] = set()
    compared: set[Node] = set()
    losses: list[Node] = []
    for node in growth.run.machine.nodes:
        if node.site.node not in places and made.isdisjoint(node.parents):
            continue
        made.add(node)
        if pass_of(node.loops, growth.activation) is None:
            if not compared.isdisjoint(node.parents) or (node.op in COMPARING and _has_target(node)):
                compared.add(node)
            if node.op in OF_LOSSES or (node in compared and lookup(node.op).shape is Shape.REDUCE):
                losses.append(node)
    return losses


def _has_target(node: Node) -> bool:
    """Whether one of the operands is a tensor without history."""
    return any(isinstance(value, Tensor) and value.node is None for _, value in node.site.operands)


def _is_trained_before(run: Run, loss: Node) -> bool:
    """Whether a step has trained something behind a loss before that is computed."""
    leaves = leaves_of(loss)
    return any(
        leaf in leaves
        for step in run.machine.steps
        if step.what != "grad" and step.clock < loss.number
        for leaf, _ in step.consumed
    )
