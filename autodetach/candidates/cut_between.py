"""A state that goes on from a forward that was differentiated, and stepped, into the next: it is cut in between."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.candidates.reads import at_read
from autodetach.candidates.spent import SEGMENTS, is_spent_when_read
from autodetach.machine.events import SecondWalk
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.run import Run
from autodetach.suspect import Candidate
from autodetach.view.crossings import Crossed, operands_from
from autodetach.view.program import Program
from autodetach.view.steps_between import stepped_between


def cut_between(program: Program, run: Run, event: SecondWalk) -> Iterator[Candidate]:
    """`self.cell(x, self.state.detach())`, where each loss has run the cell anew, behind the step of the one before."""
    if not stepped_between(run, event.first, event.second):
        return
    crossed = list(_entered(event))
    if not is_spent_when_read(run, crossed):
        return  # of two reads that lead to one loss, the second is not cut off from the first
    for message, codemods in at_read(program, crossed):
        yield Candidate(message, codemods, SEGMENTS, cuts=True)


def _entered(event: SecondWalk) -> Iterator[Crossed]:
    """Where what was made behind the first differentiation enters what that one has freed."""
    first = event.first.number
    for node in event.second.walked:
        if node.number < first:
            continue
        for parent in node.parents:
            if parent.number < first and not (parent.leaf or parent.weak) and _is_freed(event, parent):
                for operand in operands_from(node, parent):
                    yield node, operand, parent


def _is_freed(event: SecondWalk, node: Node) -> bool:
    return any(event.first in n.walked_by for n in ancestors([node]))
