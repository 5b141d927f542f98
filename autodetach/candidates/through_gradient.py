"""A loss of a gradient that was taken without a graph: forces, penalties, attacks on what a model predicts."""

from __future__ import annotations

from autodetach.machine.events import SecondWalk
from autodetach.machine.run import Run
from autodetach.machine.values import Tensor
from autodetach.suspect import Candidate

AS_VALUE = "the gradient in the loss may be meant as a value, or be meant to be differentiated"


def through_gradient(run: Run, event: SecondWalk) -> Candidate | None:
    """`create_graph=True` for the gradient that the second differentiation's loss is computed from.

    Nothing where the call says whether it makes a graph. Nor for a gradient of what is trained: it weighs losses, or
    makes the first order of fast weights.
    """
    from autodetach.codemods.set_keyword import SetKeyword

    first = event.first
    in_loss = any(isinstance(root, Tensor) and first in root.from_grad for root in event.second.operands)
    if first.kind != "grad" or not in_loss or any(k.arg in ("create_graph", None) for k in first.call.keywords):
        return None
    machine = run.machine
    asked = {leaf for s in machine.steps if s.what == "grad" for leaf, ds in s.consumed if first in ds}
    trained = {leaf for s in machine.steps if s.what != "grad" for leaf, _ in s.consumed}
    trained |= {t.leaf_node for t in machine.leaf_tensors if t.parameter and t.leaf_node is not None}
    if not asked.isdisjoint(trained):
        return None
    codemod = SetKeyword(first.call, "create_graph", "True")
    return Candidate("differentiate through the gradient, too", (codemod,), AS_VALUE, adds=True)
