"""Which activation of its function a frame is: a number of its own for each.

A frame cannot be referred to weakly, its address is given to the next one, and to hold it would keep all that the
function holds. So a mark is left where a debugger would leave its own, in `f_trace` (measured on Python 3.11): nobody
calls it while nobody traces, and it goes with the frame.
"""

from __future__ import annotations

import itertools
import sys
from types import FrameType

_numbers = itertools.count(1)


class Mark:
    """What stands in `f_trace`; to a tracer that begins later it says that there is nothing to trace."""

    __slots__ = ("number",)

    def __init__(self) -> None:
        self.number = next(_numbers)

    def __call__(self, *args: object) -> None:
        return None


def activation(frame: FrameType) -> int | None:
    """Its number, None where a debugger, or a tool that measures coverage, needs the place for itself."""
    mark = frame.f_trace
    if isinstance(mark, Mark):
        return mark.number
    if mark is not None or sys.gettrace() is not None:
        return None
    new = Mark()
    frame.f_trace = new
    return new.number


def forget(frame: FrameType | None) -> None:
    """Take the marks away, from this frame outwards."""
    while frame is not None:
        if isinstance(frame.f_trace, Mark):
            frame.f_trace = None
        frame = frame.f_back
