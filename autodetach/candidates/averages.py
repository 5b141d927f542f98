"""Running averages of parameters, as the weights of a teacher are: nobody trains through them."""

from __future__ import annotations

from autodetach.machine.graph import Node

AVERAGED = "no gradient goes through the average then, neither of earlier passes nor of this one"
SCALES = frozenset({"mul", "div"})


def averages_parameter(node: Node) -> bool:
    """Whether a node is `decay * average + (1 - decay) * parameter`."""
    if node.op not in ("add", "lerp"):
        return False
    scaled = [parent for parent in node.parents if parent.leaf or parent.op in SCALES]
    return any(parent.leaf or (len(parent.parents) == 1 and parent.parents[0].leaf) for parent in scaled)
