"""What an object out of view may keep within of what it gives: its methods share a graph then.

`theta = generator.sample()` may be what `generator.loss(reward)` computes with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from autodetach.machine.graph import Differentiation, Node
from autodetach.machine.marks import WEIGHTS
from autodetach.machine.run import Run
from autodetach.machine.values import Opaque, Tensor
from autodetach.once import once
from autodetach.view.program import Program, text

if TYPE_CHECKING:
    from autodetach.view.later_in_pass import LaterInPass


class KeptWithin:
    """Asks it of the differentiations of one run."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def is_given_by_same(self, d: Differentiation) -> bool:
        """Whether it computes with what a network out of view gave, of which a later loss of the pass comes, too."""
        given = [v for n in d.walked for _, v in n.site.operands if isinstance(v, Opaque) and v.node is None]
        return bool(given) and any(
            _weights(v.giver) is weights and _is_by_another(v.name, made)
            for made, weights in self._later(d)
            if _is_given_no_graph(made)
            for v in given
        )

    def is_kept_by_called(self, d: Differentiation) -> bool:
        """Whether a network out of view is called, and then a method of it that is given no graph gives a later loss.

        `coder.penalty()` has its graph of what the call has kept, or of parameters alone. Where both are attributes,
        as in `ac.q(o)` and `ac.pi(o)`, these may be modules that compute each with their own.
        """
        return any(
            weights in n.parents and _receiver(n) is not weights
            for made, weights in self._later(d)
            if _is_given_no_graph(made)
            for n in d.walked
        )

    def keeping(self, d: Differentiation) -> Node | None:
        """What a network out of view gave for a later loss of the pass, that has made a part of the graph, too.

        What its method is given says nothing of what it has kept.
        """
        for made, weights in self._later(d):
            if any(_is_by_another(n.op, made) and weights in n.parents for n in d.walked):
                return made
        return None

    def is_given_again(self, d: Differentiation) -> bool:
        """Whether a network out of view made a part of the graph, and a method of it, which may be the same, more."""
        return any(weights in n.parents for _, weights in self._later(d) for n in d.walked)

    def _later(self, d: Differentiation) -> Iterator[tuple[Node, Node]]:
        """What methods of networks out of view made, and is walked later in the pass, with the parameters of each."""
        for other in self._given.than(d):
            yield from self._made[other]

    @cached_property
    def _given(self) -> LaterInPass:
        from autodetach.view.later_in_pass import LaterInPass

        return LaterInPass(self._made)

    @cached_property
    def _made(self) -> dict[Differentiation, list[tuple[Node, Node]]]:
        found = {d: list(_made_by_methods(d)) for d in self._run.machine.differentiations}
        return {d: made for d, made in found.items() if made}


@once
def kept_within(run: Run) -> KeptWithin:
    return KeptWithin(run)


def may_be_kept_within(program: Program, d: Differentiation) -> str | None:
    """A doubt where a later loss of the pass comes from the network out of view that made a part of the graph."""
    from autodetach.view.by_call import at_call

    for run in program.runs:
        for made in map(kept_within(run).keeping, at_call(run, d.call)):
            if made is not None:
                return f"`{text(made.site.node)}` may compute with what it has kept of this graph"
    return None


def is_kept_out_of_view(program: Program, d: Differentiation) -> bool:
    """Whether any method gives a later loss of the pass, of the network out of view that made a part of the graph."""
    from autodetach.view.by_call import at_call

    return any(kept_within(run).is_given_again(other) for run in program.runs for other in at_call(run, d.call))


def _made_by_methods(d: Differentiation) -> Iterator[tuple[Node, Node]]:
    """What methods of networks out of view made of what it walks, with the parameters of each."""
    for node in d.walked:
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
