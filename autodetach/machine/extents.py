"""Which part of a list a slice, or a slice of a slice, has taken: `values[k:k + 3]`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

from autodetach.machine.graph import Node

End: TypeAlias = tuple[bool, Hashable]
"""Whether a place is counted from the end, and how far it is from there: a number, or a key of what is not known."""


class Extent:
    """From `first` to before `last`, at each `step`, of a list. `nodes`: of each element of that, what has history."""

    __slots__ = ("first", "last", "nodes", "of", "step")

    def __init__(self, of: object, first: End = (False, 0), last: End = (True, 0), step: Hashable = None) -> None:
        self.of = of
        self.first = first
        self.last = last
        self.step = step
        self.nodes: list[list[Node]] = []

    def part(self, lower: Hashable, upper: Hashable, step: Hashable) -> Extent:
        """A slice of this; a bound is a number, None, or the key of what is not known."""
        first = self.first if lower is None else _moved(self.first, self.last, lower)
        last = self.last if upper is None else _moved(self.first, self.last, upper)
        return Extent(self.of, first, last, (self.step, first, step) if self.step or step not in (None, 1) else None)


def surely_meet(one: Extent, other: Extent) -> bool:
    """Whether two slices have an element in common, if neither is empty."""
    if one.of is not other.of:
        return False
    if (one.first, one.last, one.step) == (other.first, other.last, other.step):
        return True
    if one.step or other.step:
        return False
    return _lies_before(one.first, other.last) and _lies_before(other.first, one.last)


def _moved(first: End, last: End, by: Hashable) -> End:
    """The place of an index in a slice; one below 0 is counted from its end."""
    from_end, offset = last if isinstance(by, int) and by < 0 else first
    if isinstance(by, int) and isinstance(offset, int):
        return from_end, offset + by
    return from_end, by if offset == 0 else (offset, by)


def _lies_before(place: End, end: End) -> bool:
    """Whether a place surely comes before an end."""
    if place[0] is not end[0]:
        return end == (True, 0)
    return isinstance(place[1], int) and isinstance(end[1], int) and place[1] < end[1]
