"""What enters a loop is computed of a sum, each of whose terms an earlier loop has differentiated by itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from autodetach.candidates.detaching import element_candidates, narrowed
from autodetach.machine.activations import Activation
from autodetach.machine.graph import Node
from autodetach.machine.growing_chains import growing_chains
from autodetach.machine.run import Run
from autodetach.suspect import Candidate
from autodetach.view.program import Program


def terms_without_graph(
    program: Program, run: Run, activation: Activation, made: Collection[Node]
) -> Iterator[Candidate]:
    """`kl_sum += kl.item()`, of which the weight for the next epoch is computed; `made` is what enters `activation`.

    That the next epoch walks the sum only shows that the sum keeps graph. To detach the weight would hide it.
    """
    for growth in growing_chains(run):
        if not (growth.dead and growth.linear and growth.certain) or growth.activation is activation:
            continue
        if growth.node not in made or growth.activation.node is None:
            continue
        terms = [
            (narrowed(e.expression, e.node.site.operands if e.node.site.node is e.expression else ()), e.value)
            for e in growth.elements
            if e.expression is not None
        ]
        if not terms or len(terms) < len(growth.elements):
            continue
        for candidate in element_candidates(program, terms, number=growth.starts_as_number, what="accumulate"):
            if not candidate.last_resort:
                yield candidate
