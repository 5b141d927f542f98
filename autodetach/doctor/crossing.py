"""Where the way down from a differentiation leaves what is new, and comes to what was walked before."""

from __future__ import annotations

from dataclasses import dataclass

from autodetach.doctor.journal import Call, Journal
from autodetach.doctor.loops import Loop
from autodetach.doctor.nodes import Node
from autodetach.doctor.passes import gone_round
from autodetach.doctor.scan import way_to


@dataclass(frozen=True, eq=False, slots=True)
class Crossing:
    """An edge from a new node (None: the differentiation begins below it) to one that an earlier call, `walker`, has
    walked, and the nodes on the way from there `below` to the one that raises. `loop` has gone round between that call
    and the one that fails, None where that is not certain."""

    reader: Node | None
    carried: Node
    walker: Call | None
    below: tuple[Node, ...]
    loop: Loop | None = None

    @property
    def shared(self) -> bool:
        """Whether nothing crosses a pass: what reads was there before the earlier call was made."""
        return self.walker is not None and self.reader is not None and self.reader._sequence_nr() < self.walker.newest


def crossing_to(old: Node, roots: list[Node], call: Call, journal: Journal) -> Crossing:
    """The crossing on a shortest way from what `call` differentiates to a node that was walked before.

    New is what was built after the earlier call; where all was built before it (two losses over one trunk), what
    that call has not walked.
    """
    way = way_to(roots, old) or [old]
    above = way[-2] if len(way) > 1 else None
    if len(journal.threads) > 1:  # numbers of nodes do not tell which thread has built them
        return Crossing(above, old, None, (old,))
    walker = journal.walker(old._sequence_nr())
    if walker is None:
        return Crossing(above, old, None, (old,))
    for is_old in (
        lambda node: node._sequence_nr() < walker.newest,
        lambda node: journal.walker(node._sequence_nr()) is walker,
    ):
        first = next((n for n, node in enumerate(way) if is_old(node)), len(way) - 1)
        if first:
            break
    loop = gone_round(walker.spots, call.spots, ran_again=journal.ran_again(walker))
    return Crossing(way[first - 1] if first else None, way[first], walker, tuple(way[first:]), loop)
