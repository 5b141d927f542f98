"""Names for leaves that two programs have in common, one of which is an edit of the other."""

from __future__ import annotations

from collections import Counter

from autodetach.machine.graph import Node
from autodetach.machine.run import Run
from autodetach.view.program import place_text

LeafName = tuple[str, int]
"""The place that makes a leaf, and how many it has made before."""


def leaf_names(run: Run) -> dict[Node, LeafName]:
    """Leaves by the place that makes them and their number there: the same in both programs."""
    counts: Counter[str] = Counter()
    names: dict[Node, LeafName] = {}
    for node in run.machine.nodes:
        if node.leaf:
            place = place_text(node.site.node)
            names[node] = (place, counts[place])
            counts[place] += 1
    return names
