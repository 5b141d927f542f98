"""Room for the frames of deep recursions, so that Python does not map and unmap memory where they come and go.

From 3.11 on, CPython keeps frames in chunks of 16 KB, each mapped when the one before is full, and unmapped when its
last frame is left (`push_chunk` and `_PyThreadState_PopFrame` in `Python/pystate.c`). Whoever calls something in a loop
at the edge of a chunk pays for that in each pass. A frame that is larger gets a chunk of its own, twice as large as
itself at the most, whose rest is for the frames above it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
CELLS = 66_000
"""Of eight bytes: a little more than half a megabyte, which leaves as much for others. None of it is touched."""


def with_room(function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """What a function returns that is called from a frame with such a chunk."""
    return function(*arguments, **named)


if sys.version_info >= (3, 11):
    with_room.__code__ = with_room.__code__.replace(co_stacksize=CELLS)
