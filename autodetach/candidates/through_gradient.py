"""What is computed from a gradient that was taken without a graph, and is differentiated later.

So are forces, residuals of equations and penalties in a loss, attacks, weights after an inner step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from autodetach.machine.activations import diverge
from autodetach.machine.graph import Differentiation, Node
from autodetach.machine.run import Run
from autodetach.machine.values import Tensor
from autodetach.once import once
from autodetach.suspect import Candidate

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

AS_VALUE = "the gradient in the loss may be meant as a value, or be meant to be differentiated"
AS_FIRST_ORDER = "the inner step may be meant to be differentiated, or only its first order"
CREATE = "create_graph"
TERMS = frozenset({"add", "sub", "rsub", "stack", "cat"})
"""Operations by which a gradient is a term of its own; by others, as a product, that of what is trained is a weight."""


def through_gradient(run: Run, calls: Iterable[Differentiation]) -> Candidate | None:
    """`create_graph=True` where a gradient goes into what is differentiated later; the rest of the calls retain.

    The last of them that gives no such gradient is the last to walk the graph. The candidate has a doubt, which stands
    against retaining only, as well.
    """
    from autodetach.codemods.set_keyword import SetKeyword

    ordered = sorted(calls, key=lambda d: d.number)
    doubts = {d.call: doubt for d in ordered if (doubt := doubt_of_gradient(run, d)) is not None}
    if not doubts:
        return None
    codemods: list[Codemod] = [SetKeyword(call, CREATE, "True") for call in doubts]
    kept = dict.fromkeys(d.call for d in ordered[:-1] if not d.retain and d.call not in doubts)
    codemods += (SetKeyword(call, "retain_graph", "True") for call in kept)
    doubt = AS_VALUE if AS_VALUE in doubts.values() else AS_FIRST_ORDER
    return Candidate("differentiate through the gradient, too", tuple(codemods), doubt, adds=True)


@once
def doubt_of_gradient(run: Run, d: Differentiation) -> str | None:
    """Why a gradient may be meant to be differentiated through, or None.

    It is not where the call says whether it makes a graph. Nor is a gradient of what is trained, unless it moves that
    or is a term of a loss: otherwise it weighs losses.
    """
    if d.create_graph or d.kind == "wrapper" or any(k.arg in (CREATE, None) for k in d.call.keywords):
        return None
    entered = list(_entered(run, d))
    is_alone = any(_is_later(o, d) for o in _differentiating_alone(run).get(d, ()))
    if not entered and not is_alone:
        return None
    asked = run.asked_by(d)
    if any(not asked.isdisjoint(_without_copies(node.parents)) for node in entered):
        return AS_FIRST_ORDER
    is_term = is_alone or any(node.op in TERMS for node in entered)
    trained = run.trained
    trained |= {t.leaf_node for t in run.machine.leaf_tensors if t.parameter and t.leaf_node is not None}
    return AS_VALUE if is_term or asked.isdisjoint(trained) else None


def _entered(run: Run, d: Differentiation) -> Iterator[Node]:
    """Where a gradient, or what was computed from its value alone, meets history that is differentiated later.

    A leaf that has been changed by it is another matter.
    """
    by_gradient = run.machine.by_gradient
    for node, given_by in by_gradient.items():
        if d in given_by and any(_is_later(o, d) for o in node.walked_by):
            leaves = (o for o in node.operands if isinstance(o, Tensor) and o.node is not None and o.node.leaf)
            if all(d not in by_gradient.get(p, ()) for p in node.parents) and all(d not in o.from_grad for o in leaves):
                yield node


@once
def _differentiating_alone(run: Run) -> dict[Differentiation, list[Differentiation]]:
    """Which differentiations are of what a gradient was made into, without any history, by that which gave it."""
    found: dict[Differentiation, list[Differentiation]] = {}
    for d in run.machine.differentiations:
        for given_by in {given for root in _values(d) for given in root.from_grad}:
            found.setdefault(given_by, []).append(d)
    return found


def _values(d: Differentiation) -> Iterator[Tensor]:
    """What is differentiated, and has no history: PyTorch raises."""
    yield from (root for root in d.operands if isinstance(root, Tensor) and root.node is None)


def _is_later(other: Differentiation, d: Differentiation) -> bool:
    """Whether another one comes later in the same pass: what comes in the next begins with what the last has made."""
    return other.number > d.number and diverge(d.loops, other.loops) is None


def _without_copies(nodes: tuple[Node, ...]) -> Iterator[Node]:
    for node in nodes:
        yield from node.parents if node.op == "clone" else (node,)
