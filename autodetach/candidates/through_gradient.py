"""A loss of a gradient that was taken without a graph: forces, penalties, attacks, weights after an inner step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autodetach.machine.events import SecondWalk
from autodetach.machine.graph import Differentiation, Node, ancestors
from autodetach.machine.run import Run
from autodetach.machine.values import Tensor
from autodetach.suspect import Candidate

AS_VALUE = "the gradient in the loss may be meant as a value, or be meant to be differentiated"
AS_FIRST_ORDER = "the inner step may be meant to be differentiated, or only its first order"


def through_gradient(run: Run, event: SecondWalk) -> Candidate | None:
    """`create_graph=True` for the gradient that the second differentiation's loss is computed from.

    Nothing where the call says whether it makes a graph. Nor for a gradient of what is trained, unless it moves that:
    otherwise it weighs losses.
    """
    from autodetach.codemods.set_keyword import SetKeyword

    first, machine = event.first, run.machine
    if first.kind != "grad" or any(k.arg in ("create_graph", None) for k in first.call.keywords):
        return None
    asked = {leaf for s in machine.steps if s.what == "grad" for leaf, ds in s.consumed if first in ds}
    codemod = SetKeyword(first.call, "create_graph", "True")
    kept = Candidate("differentiate through the gradient, too", (codemod,), AS_VALUE, adds=True)
    if _moves(run, first, asked, event.second):
        return replace(kept, doubt=AS_FIRST_ORDER)
    in_loss = any(isinstance(root, Tensor) and first in root.from_grad for root in event.second.operands)
    trained = run.trained
    trained |= {t.leaf_node for t in machine.leaf_tensors if t.parameter and t.leaf_node is not None}
    return kept if in_loss and asked.isdisjoint(trained) else None


def _moves(run: Run, first: Differentiation, asked: set[Node], second: Differentiation) -> bool:
    """Whether a loss is computed with weights that were made of those asked for and their gradient: `w - lr * g`."""
    by_gradient = run.machine.by_gradient
    return any(
        first in by_gradient.get(node, ()) and not asked.isdisjoint(_without_copies(node.parents))
        for node in ancestors(second.roots)
    )


def _without_copies(nodes: tuple[Node, ...]) -> Iterator[Node]:
    for node in nodes:
        yield from node.parents if node.op == "clone" else (node,)
