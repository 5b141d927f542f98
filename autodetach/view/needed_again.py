"""What may need a graph again after it was differentiated, other than a differentiation that a run has seen."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from autodetach.machine.events import GraphRead
from autodetach.machine.graph import Differentiation, Node
from autodetach.machine.marks import OUT_OF_VIEW
from autodetach.machine.restraints import PerhapsCut, WeightNormed, WeightShared
from autodetach.machine.run import Run
from autodetach.machine.values import Tensor
from autodetach.view.kept_within import kept_within

if TYPE_CHECKING:
    from autodetach.view.later_in_pass import LaterInPass


class NeededAgain:
    """Asks it of the differentiations of one run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._kept_within = kept_within(run)

    def may_be(self, d: Differentiation) -> bool:
        ways: tuple[Callable[[Differentiation], bool], ...] = (
            self._may_be_drawn, self._is_handed_on, self._may_be_uncut, self._is_read, self._may_share,
            self._keeps_weights, self._shares_weights,
            self._kept_within.is_given_by_same, self._kept_within.is_kept_by_called,
        )  # fmt: skip
        return any(may_be(d) for may_be in ways)

    def _may_be_drawn(self, d: Differentiation) -> bool:
        """Whether a later differentiation of one of several, nobody knows of which, may be of a part of this graph."""
        draws = [draw for draw in self._run.machine.drawn if draw.walked_since(d.number)]
        return bool(draws) and any(n in draw.others for n in d.walked for draw in draws)

    def _is_handed_on(self, d: Differentiation) -> bool:
        """Whether code that is not in view gets a part of the graph afterwards."""
        return any(self._handed_on.get(node, -1) >= d.number for node in d.walked if not node.leaf)

    @cached_property
    def _handed_on(self) -> dict[Node, int]:
        """When code that is not in view has last got a graph with a node in it."""
        escapes = sorted(self._run.machine.escapes, key=lambda escape: escape.clock)
        return {node: escape.clock for escape in escapes for node in escape.graph()}

    def _may_be_uncut(self, d: Differentiation) -> bool:
        """Whether a part of the graph belongs to what may go on with it, though no history is assumed of that."""
        return any(self._perhaps_cut.get(node, -1) >= d.number for node in d.walked if not node.leaf)

    @cached_property
    def _perhaps_cut(self) -> dict[Node, int]:
        """When a graph with a node in it was last assumed to be cut."""
        cuts = [fact for fact in self._run.machine.restraints if isinstance(fact, PerhapsCut)]
        return {node: fact.clock for fact in cuts for node in fact.graph()}

    def _is_read(self, d: Differentiation) -> bool:
        """Whether its nodes are read by way of `.grad_fn`, at any time: a node that is kept has them later, too."""
        return bool(self._reads) and any(fact.reaches(_made(d)) for fact in self._reads)

    @cached_property
    def _reads(self) -> list[GraphRead]:
        return [fact for fact in self._run.machine.facts if isinstance(fact, GraphRead)]

    def _may_share(self, d: Differentiation) -> bool:
        """Whether a later differentiation of the same pass begins at something of which nothing is known."""
        return next(self._of_unknown.than(d), None) is not None

    @cached_property
    def _of_unknown(self) -> LaterInPass:
        from autodetach.view.later_in_pass import LaterInPass

        return LaterInPass(
            d for d in self._run.machine.differentiations
            if any(n.assumed and not n.leaf and not n.parents for n in d.walked)
        )  # fmt: skip

    def _keeps_weights(self, d: Differentiation) -> bool:
        """Whether it walks parameters that are read of no call of their layer, where layers keep what they computed.

        With `torch.nn.utils.weight_norm(layer)`, all that is computed of `layer.weight` between two calls shares a
        graph.
        """
        if not any(isinstance(fact, WeightNormed) for fact in self._run.machine.restraints):
            return False
        given = (v for n in d.walked for _, v in n.site.operands)
        return any(isinstance(v, Tensor) and v.parameter for v in given)

    def _shares_weights(self, d: Differentiation) -> bool:
        """Whether it walks weights that calls of a layer share, and that code out of view may have computed."""
        if d in self._run.machine.while_cached and any(_is_out_of_view(n) for n in d.walked):
            return True
        shared = {fact.node for fact in self._run.machine.restraints if isinstance(fact, WeightShared)}
        return not shared.isdisjoint(d.walked)


def _is_out_of_view(node: Node) -> bool:
    """Whether a layer that is not in view may have made it, of weights of its own."""
    given = (t.extras or {} for t in node.operands if isinstance(t, Tensor))
    return node.assumed or node.weak or any(OUT_OF_VIEW in extras for extras in given)


def _made(d: Differentiation) -> set[Node]:
    return {n for n in d.walked if not n.leaf}
