"""Which differentiations come later in the same pass: a long loop has thousands, most of them in other passes."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator

from autodetach.machine.activations import Pass, within
from autodetach.machine.graph import Differentiation


class LaterInPass:
    """Some of the differentiations of a run, in their order, by the passes in which they stand."""

    def __init__(self, differentiations: Iterable[Differentiation]) -> None:
        self._within: defaultdict[Pass | None, list[Differentiation]] = defaultdict(list)
        for d in differentiations:
            for p in (None, *d.loops):
                self._within[p].append(d)

    def than(self, d: Differentiation) -> Iterator[Differentiation]:
        """Those that come later than another, in the same pass of each loop that is open there."""
        same = self._within.get(d.loops[-1] if d.loops else None, [])
        for at in range(bisect_right(same, d.number, key=_number), len(same)):
            if within(same[at].loops, d.loops):
                yield same[at]


def _number(d: Differentiation) -> int:
    return d.number
