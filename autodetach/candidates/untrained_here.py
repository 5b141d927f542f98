"""What a pass reads of what is made before its loop, and trains by none of its steps: only the value is used there."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.candidates.reads import at_read, reads_of
from autodetach.machine.graph import Differentiation, Node, ancestors
from autodetach.machine.run import Run
from autodetach.suspect import Candidate
from autodetach.view.by_call import at_call
from autodetach.view.crossings import Crossed, Entry, operands_from
from autodetach.view.program import Program

DOUBT = "the other passes train what it is made of; it may be meant to be trained here, too, or to be computed anew"


def detached_for_others(program: Program, run: Run, d: Differentiation, entries: list[Entry]) -> Iterator[Candidate]:
    """`outputs[j].detach()` in the loss of model `i`, where the next step of model `j` begins with zeroed gradients."""
    read = [(reader, operand, maker) for reader, operand, maker in entries if reader is not None]
    in_vain = [entry for entry in read if not _is_trained(run, d, entry[2])]
    if len(in_vain) < len(entries) and not _are_trained_elsewhere(run, d, in_vain):
        for message, codemods in at_read(program, in_vain):
            yield Candidate(message, codemods, DOUBT)


def _is_trained(run: Run, d: Differentiation, maker: Node) -> bool:
    """Whether a step consumes what a differentiation teaches some of the parameters that a node is made of."""
    leaves = {n for n in ancestors([maker]) if n.leaf}
    return any(leaf in leaves and d in ds for s in run.machine.steps if s.what != "grad" for leaf, ds in s.consumed)


def _are_trained_elsewhere(run: Run, d: Differentiation, read: list[Crossed]) -> bool:
    """Whether another pass trains by what stands in the same place."""
    places = {place for reader, operand, _ in read for place, _ in reads_of(reader, operand)}
    sites = {reader.site.node for reader, _, _ in read}
    others = [o for o in at_call(run, d.call) if o is not d]
    return any(
        any(place in places for v in operands_from(node, parent) for place, _ in reads_of(node, v))
        and _is_trained(run, o, parent)
        for o in others
        for node in o.walked
        if node.site.node in sites
        for parent in node.parents
        if not parent.leaf and parent.loops != node.loops
    )
