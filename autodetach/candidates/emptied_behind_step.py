"""A list of which several functions read the end, what the pass has put there itself, is emptied behind its step."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice

from autodetach.machine.growth import Growth
from autodetach.machine.program_values import Frame, Instance
from autodetach.machine.values import Sequence, Value
from autodetach.suspect import Candidate
from autodetach.view.moments import behind_step, moment, placed
from autodetach.view.program import Program

MAX_ATTRIBUTES = 3
"""`self.model.tap.outputs`: so many are followed from a name."""
MAX_TEXTS = 2
"""A name may be bound too late, or to something else in a branch: then the next one is tried."""


def emptied_behind_step(program: Program, growth: Growth, doubt: str | None) -> Iterator[Candidate]:
    """Empty the list behind the step of the pass, where the function that takes it has a way to the list.

    All that reads the list does so before the graph is walked, in each pass of every path.
    """
    from autodetach.codemods.insert_statement import InsertStatement

    d, tails, stored = growth.freeing, growth.tails, growth.stored
    if d is None or tails is None or stored is None or not isinstance(stored.container, Sequence):
        return
    if not _are_all_read_before(program, growth):
        return
    for frame in dict.fromkeys(f for _, f in reversed(d.trail) if isinstance(f, Frame)):
        statement = placed(program, moment(d), frame, tails.loop)
        if statement is not None:
            anchor = behind_step(program, growth.run.machine, moment(d), statement, frame)
            for text in islice(_texts_of(stored.container, frame), MAX_TEXTS):
                message = f"empty `{text}` when it has been used"
                yield Candidate(message, (InsertStatement(anchor, f"{text}.clear()"),), doubt)


def _are_all_read_before(program: Program, growth: Growth) -> bool:
    """Whether each pass that reads the list walks a graph behind that, by the same call, and reads it no more."""
    assert growth.tails is not None and growth.freeing is not None
    sites, loop, call = growth.tails.sites, growth.tails.loop, growth.freeing.call
    for run in program.runs:
        for tail in (tail for tail in run.machine.tails if tail.site.node in sites):
            now = next((p for p in tail.loops if p.activation.node is loop), None)
            walks = [d for d in run.machine.differentiations if d.call is call and now in d.loops]
            if now is None or len(walks) != 1 or walks[0].number < tail.clock:
                return False
    return True


def _texts_of(container: Value, frame: Frame) -> Iterator[str]:
    """`tap.outputs` or `self.tap.outputs`: how a function may name what an object holds, the shortest first."""
    pending = deque((name, value, 0) for name, value in frame.names.items() if name.isidentifier())
    while pending:
        text, value, depth = pending.popleft()
        if value is container:
            yield text
        elif isinstance(value, Instance) and depth < MAX_ATTRIBUTES:
            own = text == "self"
            pending += (
                (f"{text}.{name}", inner, depth + 1)
                for name, inner in value.attrs.items()
                if name.isidentifier() and (own or not name.startswith("_"))
            )
