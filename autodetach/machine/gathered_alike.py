"""What a function gathers while it makes what one of its callers differentiates, and another one only looks at."""

from __future__ import annotations

from autodetach.machine.growth import Growth, is_kept_anyway
from autodetach.machine.program_values import Frame
from autodetach.machine.run import Analysis


def waits_in_another_call(analysis: Analysis, growth: Growth) -> bool:
    """Whether the graph that a place stores waits, in another call of its function, for a differentiation behind it.

    So do the states of a learned optimizer: its training walks them, and the same function runs for validation. The
    container is a variable of the function, or made for it, so that it is gone with the call.
    """
    stored, activation = growth.stored, growth.activation
    frame = activation.frame
    if stored is None or activation.node is None or not isinstance(frame, Frame) or frame.outer is None:
        return False
    if stored.container.born < frame.started:
        return False
    for run in analysis.distinct:
        for event in (*run.machine.stored, *run.machine.filled):
            if event.site.node is not stored.site.node or event.element is not stored.element:
                continue
            for now in event.loops:
                is_other = now.activation.node is activation.node and now.activation is not activation
                if is_other and is_kept_anyway(event.node, now, event.loops):
                    return True
    return False
