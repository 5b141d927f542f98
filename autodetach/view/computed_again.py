"""Whether a loop runs what has made a value before it once more, by the weights of its layers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from autodetach.machine.activations import Activation, pass_of
from autodetach.machine.graph import Differentiation, Node, Storage, ancestors
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Tensor
from autodetach.view.crossings import in_loop

DISTANCES = frozenset(
    """cdist cosine_embedding_loss cosine_similarity pairwise_distance triplet_margin_loss
    triplet_margin_with_distance_loss CosineEmbeddingLoss CosineSimilarity PairwiseDistance TripletMarginLoss
    TripletMarginWithDistanceLoss""".split()
)
DIFFERENCES = DISTANCES | frozenset(
    """sub div mse_loss l1_loss smooth_l1_loss huber_loss kl_div dist MSELoss L1Loss SmoothL1Loss HuberLoss KLDivLoss
    kl_divergence""".split()
)
"""What is least, or has no slope, where both sides are equal."""
COPIES = frozenset("clone contiguous cpu cuda double flatten float reshape to type view".split())
"""Operations that give the same values."""


def is_computed_again(
    run: Run, d: Differentiation, activation: Activation, outer: list[Node], trained: set[Node]
) -> bool:
    """Whether the loop runs the same module anew, as for the old and the new log-probabilities of a policy."""
    return bool(computed_again(run, d, in_loop(activation), outer, trained))


def computed_again(
    run: Run, d: Differentiation, is_inside: Callable[[Node], bool], outer: list[Node], trained: set[Node]
) -> list[Node]:
    """What a differentiation walks of the modules that have made a value before a loop, and that the loop runs anew.

    Two classes may each have a `self.head`, and one may call it `self.model.head`: where they are known, the weights
    tell, and the name only where they are not.
    Of two encoders that share an embedding, the other one is not the same: no trained weight may be left out.
    Where no module makes the value, the places count that compute with weights, as `F.linear(x, self.weight[:n])`.
    """
    before = [n for n in outer if _is_of_module(n)]
    if before:
        within = {n for n in run.machine.nodes if _is_of_module(n) and is_inside(n)}
    else:
        before = [n for n in outer if not trained.isdisjoint(n.parents)]
        places = {n.site.node for n in before}
        within = {n for n in run.machine.nodes if n.site.node in places and is_inside(n)}
    weights = _weights(before)
    names = {_callee(n) for n in before} if not weights else set()
    again = [n for n in d.walked if n in within and (weights or _callee(n) in names)]
    if weights & trained - _weights(within):
        return []
    return [n for n in again if not weights or not weights.isdisjoint(n.parents)]


def is_compared_with_itself(
    run: Run, d: Differentiation, activation: Activation, outer: list[Node], trained: set[Node]
) -> bool:
    """Whether a difference is taken between what a module has made before a loop, and what it makes in it of the same.

    Computed anew in each pass, with no step in between, both would be equal: the difference is zero, its gradient too.
    """
    before, again = set(outer), set(computed_again(run, d, in_loop(activation), outer, trained))
    for node in d.walked if again else ():
        if node.op in DIFFERENCES and pass_of(node.loops, activation) is not None:
            sides = [set(ancestors([parent])) for parent in node.parents]
            old, new = _both_sides(sides, before, again)
            if _data_of(old, or_all=True) & _data_of(new, or_all=True):
                return True
    return False


def is_compared_with_its_leaf(d: Differentiation, activation: Activation, outer: list[Node]) -> bool:
    """Whether a parameter is compared with a copy of it from before a loop: how far it has gone since then."""
    before = set(outer)
    return all(node.op in COPIES for node in outer) and any(
        any(parent in before and not leaves.isdisjoint(ancestors([parent])) for parent in node.parents)
        for node in d.walked
        if node.op in DIFFERENCES and pass_of(node.loops, activation) is not None
        if (leaves := {parent for parent in node.parents if parent.leaf})
    )


def is_one_side_of_pairs(
    run: Run, d: Differentiation, activation: Activation, readers: list[Node], outer: list[Node], trained: set[Node]
) -> bool:
    """Whether a distance is taken between what a module has made before a loop, and what it makes in it of other data.

    Both sides of a pair are meant to learn. What was made of the same data, or is picked by an index as that may be, is
    where the module was: it is not to go too far away.
    """
    again = set(computed_again(run, d, in_loop(activation), outer, trained))
    is_picked = any(isinstance(reader.site.node, ast.Subscript) for reader in readers)
    if not again or is_picked or _data_of(outer) & _data_of(ancestors(again)):
        return False
    before = set(outer)
    return any(
        node.op in DISTANCES and all(_both_sides([set(ancestors([p])) for p in node.parents], before, again))
        for node in d.walked
        if pass_of(node.loops, activation) is not None
    )


def _both_sides(sides: Iterable[set[Node]], before: set[Node], again: set[Node]) -> tuple[set[Node], set[Node]]:
    """What operands are made of that come from before a loop alone, and what those are made of that are made in it."""
    old, new = set[Node](), set[Node]()
    for side in sides:
        if side & again:
            new |= side
        elif side & before:
            old |= side
    return old, new


def _data_of(nodes: Iterable[Node], *, or_all: bool = False) -> set[Storage]:
    """The memory of what modules have saved that has no graph itself: what they are given. If there are none: `or_all`.
    """
    nodes = list(nodes)
    own = [n for n in nodes if _is_of_module(n)] or (nodes if or_all else [])
    with_graph = {o.storage for n in own for o in n.operands if isinstance(o, Tensor)}
    return {storage for n in own for storage, _ in n.saved} - with_graph


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
