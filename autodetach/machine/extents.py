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
        last = self.last if upper is None else _end(_moved(self.first, self.last, upper), self.last)
        return Extent(self.of, first, last, self._step(first, step, is_open=lower is upper is None))

    def _step(self, first: End, step: Hashable, *, is_open: bool) -> Hashable:
        """None where none is left out, -1 of all backwards, or a number above 1; of all else, what tells it apart."""
        if self.step is None and (step in (None, 1) or (step == -1 and is_open)):
            return None if step == 1 else step
        is_stride = self.step is None and isinstance(step, int) and step > 0
        return step if is_stride else (self.step, first, step)


def surely_meet(one: Extent, other: Extent) -> bool:
    """Whether two slices have an element in common, if neither is empty."""
    if one.of is not other.of:
        return False
    if (one.first, one.last, one.step) == (other.first, other.last, other.step):
        return True
    if not all(step is None or isinstance(step, int) for step in (one.step, other.step)):
        return False
    if _is_whole(one) and _is_whole(other):
        return _begins_in(one, other) and _begins_in(other, one)
    if one.first == other.first:
        return True
    return any(
        _is_whole(a) and _is_at_most(a.first, b.first) and _begins_in(b, a) for a, b in ((one, other), (other, one))
    )


def _is_whole(part: Extent) -> bool:
    return part.step in (None, -1)


def _begins_in(one: Extent, other: Extent) -> bool:
    """Whether a slice surely begins before the other one ends."""
    if _is_whole(one) and _is_at_most(one.first, other.first):
        return True
    return _lies_before(one.first, other.last) or _is_at_most(one.last, other.last)


def _is_at_most(one: End, other: End) -> bool:
    """Whether a place surely comes before another one, or is the same."""
    return one in (other, (False, 0)) or other == (True, 0) or _lies_before(one, other)


def _end(end: End, last: End) -> End:
    """A slice of a slice ends where that does."""
    return last if _lies_before(last, end) and end[0] is last[0] else end


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
