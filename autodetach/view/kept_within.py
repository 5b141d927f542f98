"""What an object out of view may keep within of what it gives: its methods share a graph then.

`theta = generator.sample()` may be what `generator.loss(reward)` computes with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.graph import Differentiation, Node, within
from autodetach.machine.marks import WEIGHTS
from autodetach.machine.run import Run
from autodetach.machine.values import Opaque, Tensor
from autodetach.view.program import Program, text


def is_given_by_same(run: Run, d: Differentiation) -> bool:
    """Whether it computes with what a network out of view gave, of which a later loss of the pass comes, too."""
    later = list(_made_within(run, d))
    if not later:
        return False
    given = [v for n in d.walked for _, v in n.site.operands if isinstance(v, Opaque) and v.node is None]
    return any(_weights(v.giver) is weights and v.name != n.op for v in given for n, weights in later)


def may_be_kept_within(program: Program, d: Differentiation) -> str | None:
    """A doubt where a later loss of the pass comes from the network out of view that made a part of the graph."""
    for run in program.runs:
        for other in run.machine.differentiations:
            if other.call is not d.call:
                continue
            for made, weights in _made_within(run, other):
                if any(n.op != made.op and weights in n.parents for n in other.walked):
                    return f"`{text(made.site.node)}` may compute with what it has kept of this graph"
    return None


def _made_within(run: Run, d: Differentiation) -> Iterator[tuple[Node, Node]]:
    """What methods of networks out of view made of no graph that they were given, and is walked later in the pass."""
    for other in run.machine.differentiations:
        if other.number <= d.number or not within(other.loops, d.loops):
            continue
        for node in other.walked:
            call = node.site.node
            if not (node.assumed and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
                continue
            if all(parent.leaf for parent in node.parents):
                receiver = next((v for e, v in node.site.operands if e is call.func.value), None)
                weights = _weights(receiver)
                if weights is not None:
                    yield node, weights


def _weights(of: object) -> Node | None:
    """The leaf that stands for the parameters of a network out of view."""
    weights = of.attrs.get(WEIGHTS) if isinstance(of, Opaque) else None
    return weights.node if isinstance(weights, Tensor) else None
