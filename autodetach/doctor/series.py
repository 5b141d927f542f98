"""How much graph a name holds, look after look, and whether that is a leak."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from autodetach.doctor.holders import Binding

MIN_RISES = 4
"""Passes in which a holder has to grow before it is accused."""
ENDED_RISES = 6
"""And in so many, where it was emptied in the end: a few predictions that are thrown away do no harm."""
MIN_NODES = 8
MANY_RISES = 16
"""And in so many, where it is not known whether anybody made use of what had gathered."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a holder held after a pass: `nodes` of graph, distinct within it, and the sequence number of the oldest.

    `blind`: since the look before, a differentiation was not looked at, so that nobody knows whether it made use of
    what had gathered. `passes` is how many events of the sort that it was looked at after there had been, looked at or
    not; `bytes` what the nodes have saved, None where that was not counted.
    """

    number: int
    nodes: int
    oldest: int = -1
    blind: bool = False
    passes: int = 0
    bytes: int | None = None


@dataclass(eq=False, slots=True)
class Series:
    """The looks at one holder after one sort of event; `tops` are the sequence numbers of the nodes of the
    tensors that it held, `consumed` the numbers of the looks after which a differentiation walked several of them."""

    binding: Binding
    looks: list[Look] = field(default_factory=list)
    tops: set[int] = field(default_factory=set)
    consumed: list[int] = field(default_factory=list)
    bytes: int = 0
    event: str = "step"
    parts: list[int] = field(default_factory=list)
    """Sequence numbers of nodes that were new when the holder had taken them, at the first looks: for each look those
    of tensors first, then those right below."""
    ended: list[Look] | None = None
    """The longest segment that was a leak when the holder was emptied, or went, as that of a function that returns."""
    home: int = 0
    """The identity of its scope or object at the last look."""
    _first: int = 0

    def begin_anew(self) -> None:
        """What has its name now is another one, and holds less."""
        present = self._present
        if self._is_leak(present, ENDED_RISES) and (self.ended is None or _rises(self.ended) <= _rises(present)):
            self.ended = present
        self._first = len(self.looks)

    def empty(self, look: Look) -> None:
        """The holder holds nothing any more, as `look` has seen."""
        self.begin_anew()
        self.looks.append(look)
        self.tops.clear()

    @property
    def rises(self) -> int:
        """How often it grew since it was last emptied."""
        return _rises(self._present)

    @property
    def segment(self) -> list[Look]:
        """The looks between which it leaks; if it does not, those since the holder was last emptied."""
        if self.ended is None or self._is_leak(self._present, MIN_RISES):
            return self._present
        return self.ended

    @property
    def leaks(self) -> bool:
        """Whether it grew in pass after pass, to its end, and nothing made use of what had gathered.

        A sum of losses that is differentiated at last has grown for a reason; one that goes on growing after it was
        differentiated has not.
        """
        return self.ended is not None or self._is_leak(self._present, MIN_RISES)

    @property
    def _present(self) -> list[Look]:
        """The looks since the holder was last emptied: as long as it keeps its oldest node."""
        begin = len(self.looks) - 1
        while (
            begin > self._first
            and self.looks[begin - 1].nodes
            and self.looks[begin - 1].oldest == self.looks[-1].oldest
        ):
            begin -= 1
        return self.looks[begin:]

    def _is_leak(self, segment: list[Look], least: int) -> bool:
        rises = _rises(segment)
        if rises < least or segment[-1].nodes < max(MIN_NODES, 2 * segment[0].nodes):
            return False
        if any(after.nodes < before.nodes for before, after in itertools.pairwise(segment)):
            return False
        if any(look.blind for look in segment[1:]) and rises < MANY_RISES:
            return False
        used = [number for number in self.consumed if number >= segment[0].number]
        return not used or _rises([look for look in segment if look.number > used[0]]) >= MIN_RISES - 1

    @property
    def increments(self) -> list[int]:
        """By how much it grew from look to look."""
        segment = self.segment
        return [after.nodes - before.nodes for before, after in itertools.pairwise(segment)]

    @property
    def per_pass(self) -> float:
        """Nodes of graph that a pass adds, the passes between the looks counted."""
        segment = self.segment
        passes = segment[-1].passes - segment[0].passes
        return (segment[-1].nodes - segment[0].nodes) / passes if passes else 0.0

    @property
    def growth(self) -> float:
        """Nodes of graph that a look adds to the one before."""
        segment = self.segment
        passes = segment[-1].number - segment[0].number
        return (segment[-1].nodes - segment[0].nodes) / passes if passes else 0.0


def _rises(looks: list[Look]) -> int:
    return sum(after.nodes > before.nodes for before, after in itertools.pairwise(looks))
