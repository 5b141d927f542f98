"""What a constructor makes of trained leaves, and every pass changes in place, begins anew whenever it is read."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.candidates.as_property import computed_as_property
from autodetach.machine.activations import Pass, pass_of
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.run import Run
from autodetach.suspect import Candidate
from autodetach.view.program import Program

ANEW_WHEN_READ = "what passes have made of it is not kept then; only its author knows how long it is meant to live"


def start_as_property(program: Program, run: Run, now: Pass, makers: list[Node]) -> Iterator[Candidate]:
    """`self.shift = torch.stack([x, y])`, of which `forward` computes `shift = self.shift; shift *= scale`.

    A detach would take `x` and `y` away from the loss, and a copy would keep them as they were at first.
    """
    before = (n for n in ancestors(makers) if not n.leaf and pass_of(n.loops, now.activation) is None)
    start = sorted(before, key=lambda n: n.number)
    if not run.trained.isdisjoint(ancestors(start)):
        yield from computed_as_property(program, run, start, ANEW_WHEN_READ)
