"""A list of which several functions read the end, what the pass has put there itself, is emptied behind its step."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from autodetach.machine.growth import Growth
from autodetach.machine.program_values import Frame, Instance
from autodetach.machine.values import Value
from autodetach.suspect import Candidate
from autodetach.view.moments import behind_step, moment, placed
from autodetach.view.program import Program

MAX_ATTRIBUTES = 3
"""`self.model.tap.outputs`: so many are followed from a name."""


def emptied_behind_step(program: Program, growth: Growth, doubt: str | None) -> Iterator[Candidate]:
    """Empty the list behind the step of the pass, where the function that takes it has a way to the list.

    All that reads the list does so before the graph is walked, in each pass of every path.
    """
    from autodetach.codemods.insert_statement import InsertStatement

    d, tails, stored = growth.freeing, growth.tails, growth.stored
    if d is None or tails is None or stored is None or not _are_all_read_before(program, growth):
        return
    for frame in dict.fromkeys(f for _, f in reversed(d.trail) if isinstance(f, Frame)):
        text = _text_of(stored.container, frame)
        statement = placed(program, moment(d), frame, tails.loop) if text else None
        if statement is not None:
            anchor = behind_step(program, growth.run.machine, moment(d), statement, frame)
            message = f"empty `{text}` when it has been used"
            yield Candidate(message, (InsertStatement(anchor, f"{text}.clear()"),), doubt)
            return


def _are_all_read_before(program: Program, growth: Growth) -> bool:
    """Whether each pass that reads the list walks a graph behind that, by the same call, and reads it no more."""
    assert growth.tails is not None and growth.freeing is not None
    sites, loop, call = growth.tails.sites, growth.tails.loop, growth.freeing.call
    for run in program.runs:
        for tail in (tail for tail in run.machine.tails if tail.site.node in sites):
            now = next((p for p in tail.loops if p.activation.node is loop), None)
            walks = [d for d in run.machine.differentiations if d.call is call and now in d.loops]
            if len(walks) != 1 or walks[0].number < tail.clock:
                return False
    return True


def _text_of(container: Value, frame: Frame) -> str:
    """`tap.outputs` or `self.tap.outputs`: how a function may name what an object holds; empty if it cannot."""
    pending = deque((name, value, 0) for name, value in frame.names.items() if name.isidentifier())
    while pending:
        text, value, depth = pending.popleft()
        if value is container:
            return text
        if isinstance(value, Instance) and depth < MAX_ATTRIBUTES:
            own = text == "self"
            pending += (
                (f"{text}.{name}", inner, depth + 1)
                for name, inner in value.attrs.items()
                if name.isidentifier() and (own or not name.startswith("_"))
            )
    return ""
