"""What is said of graph that grows: how much of it each pass leaves, and what the backward of the pass does with it."""

from __future__ import annotations

from autodetach.finding import StoryStep
from autodetach.machine.growth import Growth, is_whole
from autodetach.node_types import CALLABLES
from autodetach.view.program import line

FREED = "backward frees what it saved; its nodes live as long as it is referred to"
RETAINED = "this walks it and retains it: it lives as long as it is referred to"


def left_of(growth: Growth) -> str:
    """What a pass leaves: nodes alone, where the tensors that they have saved are freed."""
    return "graph nodes" if growth.dead and not is_whole(growth.freeing) else "graph and all its activations"


def comes_again(growth: Growth, does: str, looping: str, until: str = "") -> list[StoryStep]:
    """What the next pass does as well, at its loop, or at the function that is called again and again.

    `looping` is how long memory grows in a loop, `until` what ends that before.
    """
    node = growth.activation.node
    if node is None:
        return []
    is_called = isinstance(node, CALLABLES)
    turn, growing = ("call", "with every call") if is_called else ("pass", looping)
    return [StoryStep(line(node), f"the next {turn} {does}: memory grows {until or growing}")]


def walked(growth: Growth) -> list[StoryStep]:
    """The differentiation that walks what a pass makes, if one does."""
    if growth.freeing is None:
        return []
    return [StoryStep(line(growth.freeing.site), RETAINED if growth.freeing.retain else FREED)]
