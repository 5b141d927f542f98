"""A state that goes on from loss to loss within a pass: each is differentiated and stepped before the next reads it."""

from __future__ import annotations

from collections.abc import Iterable

from autodetach.machine.activations import diverge
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.run import Run
from autodetach.view.crossings import Crossed

SEGMENTS = "each loss is differentiated by itself, and the state between them is cut; one loss of all may be meant"


def is_spent_when_read(run: Run, crossed: Iterable[Crossed]) -> bool:
    """Whether all that reads the state finds its graph freed and stepped over, not only at the begin of a pass.

    The state is what an expression makes of what it has made before. Whoever walks through it raises, so that nothing
    has ever learned that way.
    """
    places = {reader.site.node for reader, _, _ in crossed}
    is_within = False
    for node in run.machine.nodes:
        if node.site.node not in places:
            continue
        for parent in node.parents:
            if parent.leaf or not any(n.site.node is node.site.node for n in ancestors([parent])):
                continue
            if not _is_spent(run, parent, node):
                return False
            is_within = is_within or diverge(parent.loops, node.loops) is None
    return is_within


def _is_spent(run: Run, parent: Node, node: Node) -> bool:
    """Whether a differentiation freed the parent, and parameters were stepped, before the node was made."""
    freed = [d.number for d in parent.walked_by if not d.retain and d.number < node.number]
    steps = (s for s in run.machine.steps if s.what != "grad" and s.consumed)
    return bool(freed) and any(freed[0] < s.clock < node.number for s in steps)
