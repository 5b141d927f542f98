"""Whether a loop runs what has made a value before it once more, by the weights of its layers."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.machine.graph import Activation, Differentiation, Node, pass_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled


def is_computed_again(
    run: Run, d: Differentiation, activation: Activation, outer: list[Node], trained: set[Node]
) -> bool:
    """Whether the loop runs the same module anew, as for the old and the new log-probabilities of a policy."""
    return bool(computed_again(run, d, activation, outer, trained))


def computed_again(
    run: Run, d: Differentiation, activation: Activation, outer: list[Node], trained: set[Node]
) -> list[Node]:
    """What a differentiation walks of the modules that have made a value before a loop, and that the loop runs anew.

    Two classes may each have a `self.head`, and one may call it `self.model.head`: where they are known, the weights
    tell, and the name only where they are not.
    Of two encoders that share an embedding, the other one is not the same: no trained weight may be left out.
    """
    before = [n for n in outer if _is_of_module(n)]
    names, weights = {_callee(n) for n in before}, _weights(before)
    within = {n for n in run.machine.nodes if _is_of_module(n) and pass_of(n.loops, activation) is not None}
    again = [n for n in d.walked if n in within and (weights or _callee(n) in names)]
    if weights & trained - _weights(within):
        return []
    return [n for n in again if not weights or not weights.isdisjoint(n.parents)]


def is_computed_for_another(run: Run, activation: Activation, outer: list[Node], stepped: set[Node]) -> bool:
    """Whether the loop runs all stepped modules behind a value anew, for another loss: it means the old value here.

    So it is with the advantages of an actor, by a critic that learns in the same loop.
    """
    weights = _weights([n for n in outer if _is_of_module(n)]) & stepped
    within = [n for n in run.machine.nodes if _is_of_module(n) and pass_of(n.loops, activation) is not None]
    return bool(weights) and weights <= _weights(within)


def _weights(nodes: Iterable[Node]) -> set[Node]:
    return {leaf for n in nodes for leaf in n.parents if leaf.leaf}


def _is_of_module(node: Node) -> bool:
    return isinstance(node.site.node, ast.Call) and node.op[:1].isupper()


def _callee(node: Node) -> str:
    assert isinstance(node.site.node, ast.Call)
    return spelled(node.site.node.func)
