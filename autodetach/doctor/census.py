"""Tensors with history that no name of the program leads to: how many there are, look after look.

What an installed package keeps in its own modules is not searched on every look; it is counted now and then, and looked
for from below (`referrers`) only where it becomes more and more.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autodetach.doctor.nodes import Node, reachable
from autodetach.doctor.referrers import Way, way_from_module

FIRST = 4
"""The look of the first count; the others are at twice the number of the last."""
MIN_COUNTS = 3
MIN_TENSORS = 8
SAMPLES = 3
CONSUMED = 2


@dataclass(frozen=True, slots=True)
class Hoard:
    """What gathers out of view: the way to it from a module, the tensors that were found there at the end, and how many
    there were at each count."""

    way: Way
    sequences: tuple[int, ...]
    counts: tuple[int, ...]
    nodes: int


class Census:
    """Counts what names do not lead to."""

    def __init__(self, torch: Any) -> None:
        self._tensor: type = torch.Tensor
        self._looks = 0
        self._next = FIRST
        self._tops: set[int] = set()
        self.counts: list[int] = []

    def due(self) -> bool:
        """Count a look, and say whether to take a count at it."""
        self._looks += 1
        if self._looks < self._next:
            return False
        self._next = 2 * self._looks
        return True

    def take(self, held: set[int]) -> None:
        """Count the tensors but those that are `held` by names, by their `id`."""
        found = self._unexplained(held)
        self._tops = {tensor.grad_fn._sequence_nr() for tensor in found}
        self.counts.append(len(found))

    def consumed(self, sequences: set[int]) -> None:
        """A differentiation walks these nodes: what makes use of several was worth keeping."""
        if self._tops and len(self._tops & sequences) >= max(CONSUMED, len(self._tops) // 4):
            self.counts.clear()

    def hoard(self, held: Callable[[], set[int]]) -> Hoard | None:
        """Where more and more gathers out of view, if it does. Takes a last count; `held` is asked only then."""
        if len(self.counts) < MIN_COUNTS - 1 or not _rises(self.counts):
            return None
        found = self._unexplained(held())
        counts = (*self.counts, len(found))
        if len(found) < MIN_TENSORS or not _rises(counts):
            return None
        found.sort(key=lambda tensor: tensor.grad_fn._sequence_nr())
        old = found[: len(found) // 2]
        ways = [way_from_module(tensor, (found, old)) for tensor in old[:: max(1, len(old) // SAMPLES)][:SAMPLES]]
        gathering = {way.gathering for way in ways if way is not None}
        if len(gathering) != 1 or ways[0] is None:
            return None  # here and there one: nothing that gathers
        nodes: list[Node] = [tensor.grad_fn for tensor in found]
        return Hoard(
            ways[0],
            tuple(node._sequence_nr() for node in nodes),
            counts,
            sum(1 for _ in itertools.islice(reachable(iter(nodes)), 60_000)),
        )

    def _unexplained(self, held: set[int]) -> list[Any]:
        tensor = self._tensor
        objects = gc.get_objects()
        return [
            each
            for each in objects
            if issubclass(type(each), tensor) and each.grad_fn is not None and id(each) not in held
        ]


def _rises(counts: list[int] | tuple[int, ...]) -> bool:
    return all(before < after for before, after in itertools.pairwise(counts))
