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
    later = [found for found in _made_within(run, d) if _is_given_no_graph(found[0])]
    if not later:
        return False
    given = [v for n in d.walked for _, v in n.site.operands if isinstance(v, Opaque) and v.node is None]
    return any(_weights(v.giver) is weights and _is_by_another(v.name, n) for v in given for n, weights in later)


def is_kept_by_called(run: Run, d: Differentiation) -> bool:
    """Whether a network out of view is called, and then a method of it that is given no graph gives a later loss.

    `coder.penalty()` has its graph of what the call has kept, or of parameters alone. Where both are attributes, as in
    `ac.q(o)` and `ac.pi(o)`, these may be modules that compute each with their own.
    """
    return any(
        weights in n.parents and _receiver(n) is not weights
        for made, weights in _made_within(run, d)
        if _is_given_no_graph(made)
        for n in d.walked
    )


def may_be_kept_within(program: Program, d: Differentiation) -> str | None:
    """A doubt where a later loss of the pass comes from the network out of view that made a part of the graph.

    What its method is given says nothing of what it has kept.
    """
    for run in program.runs:
        for other in run.machine.differentiations:
            if other.call is not d.call:
                continue
            for made, weights in _made_within(run, other):
                if any(_is_by_another(n.op, made) and weights in n.parents for n in other.walked):
                    return f"`{text(made.site.node)}` may compute with what it has kept of this graph"
    return None


def _made_within(run: Run, d: Differentiation) -> Iterator[tuple[Node, Node]]:
    """What methods of networks out of view made, and is walked later in the pass, with the parameters of each."""
    for other in run.machine.differentiations:
        if other.number <= d.number or not within(other.loops, d.loops):
            continue
        for node in other.walked:
            weights = _receiver(node) if node.assumed else None
            if weights is not None:
                yield node, weights


def _is_given_no_graph(made: Node) -> bool:
    return all(parent.leaf for parent in made.parents)


def _is_by_another(method: str, made: Node) -> bool:
    """Whether another method made it: one that is called again may compute anew."""
    return method != made.op


def _receiver(node: Node) -> Node | None:
    """The parameters of the network out of view of which a method made it."""
    call = node.site.node
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return None
    return _weights(next((v for e, v in node.site.operands if e is call.func.value), None))


def _weights(of: object) -> Node | None:
    """The leaf that stands for the parameters of a network out of view."""
    weights = of.attrs.get(WEIGHTS) if isinstance(of, Opaque) else None
    return weights.node if isinstance(weights, Tensor) else None
