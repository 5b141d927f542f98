"""Whether what has lost its history was meant to be trained, where PyTorch raises nothing."""

from __future__ import annotations

from autodetach.machine.events import HistoryLost
from autodetach.machine.graph import Differentiation, Lost, Node, ancestors
from autodetach.machine.run import Run


def trains_nothing(run: Run, fact: HistoryLost) -> tuple[Lost, ...]:
    """What of a loss has lost its history for certain: all, where it raises, or is asked for the gradient of others.

    Where it does not, an optimizer steps behind it, with parameters of that history for which there is no gradient.
    What is differentiated up to a leaf of its own gives that its gradient, which nobody takes. What stands beside
    another part of a loss may be meant as a constant, unless a parameter of it is trained by nothing else, ever. What
    is only added to a loss is of no use as a constant: it was to train what the other terms train. If values were asked
    for, nothing else differentiates any of it: else they may correct what stands for it in the gradient.
    """
    if fact.raises:
        return fact.lost
    d = next((d for d in run.machine.differentiations if d.site is fact.site), None)
    taken = {leaf for step in run.machine.steps for leaf, _ in step.consumed}
    if fact.added:
        if d is None or (fact.asked and any(one.node.walked_by for one in fact.lost)):
            return ()
        return tuple(one for one in fact.lost if _is_trained_beside(run, d, one))
    if d is None or not taken.isdisjoint(fact.begun):
        return ()
    if fact.begun and d.kind == "grad":
        return fact.lost
    steps = (s for s in run.machine.steps if s.what == "step" and s.clock > d.number)
    idle = {leaf for s in steps if not (s.guessed or s.by_hand) for leaf in s.idle if is_surely_trained(leaf)}
    if fact.beside is not None:
        return tuple(one for one in fact.lost if not idle.isdisjoint(_untrained(run, one.node)))
    return fact.lost if any(not idle.isdisjoint(leaves_of(one.node)) for one in fact.lost) else ()


def is_taken_for_constant(run: Run, nodes: set[Node]) -> bool:
    """Whether a loss has a part that is made of the values of some nodes, of which nothing else trains a parameter."""
    facts = (fact for fact in run.machine.facts if isinstance(fact, HistoryLost) and not (fact.raises or fact.asked))
    for fact in facts:
        for one in trains_nothing(run, fact) if fact.added else fact.lost:
            if not nodes.isdisjoint(ancestors([one.node])) and (fact.added or _untrained(run, one.node)):
                return True
    return False


def _is_trained_beside(run: Run, d: Differentiation, one: Lost) -> bool:
    """Whether a step consumes what a differentiation gives a parameter of a history that nothing differentiates."""
    steps = (step for step in run.machine.steps if step.clock > d.number and step.what != "grad")
    trained = {leaf for step in steps for leaf, given in step.consumed if d in given and is_surely_trained(leaf)}
    return (one.node.leaf or not one.node.walked_by) and not trained.isdisjoint(leaves_of(one.node))


def _untrained(run: Run, node: Node) -> set[Node]:
    """The parameters of a history that nothing differentiates."""
    return leaves_of(node) - {n for d in run.machine.differentiations for n in d.walked if n.leaf}


def leaves_of(node: Node) -> set[Node]:
    return {n for n in ancestors([node]) if n.leaf}


def is_surely_trained(leaf: Node) -> bool:
    """Whether a parameter surely requires grad, so that a step could train it."""
    return not (leaf.weak or leaf.frozen or leaf.presumed or leaf.observed)
