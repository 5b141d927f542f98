"""A function on the way to what grows that others call, too: what is cut inside of it, these cannot train through."""

from __future__ import annotations

from collections.abc import Iterable

from autodetach.candidates.called_out_of_view import is_given_away, named_unseen
from autodetach.machine.graph import Node, ancestors, trail_of
from autodetach.machine.program_values import Frame
from autodetach.view.program import Program


def is_called_by_others(program: Program, frame: object, begins: Iterable[Node]) -> bool:
    """Whether somebody may train through the function of a frame in which all of `begins` were made.

    That is code to which no run has come, code out of view that is given the function, or who calls others in view
    for what these make of it. What any run trains is seen when the repair is proven.
    """
    if not isinstance(frame, Frame) or frame.function is None:
        return False
    function = frame.function
    if is_given_away(program, function) or any(True for _ in named_unseen(program, function)):
        return True
    begun = list(begins)
    places = {n.site.node for n in begun}
    own = {f.function.node for n in begun for _, f in trail_of(n) if isinstance(f, Frame) and f.function is not None}
    return any(
        escape.how == "return"
        and escape.site.node not in own
        and any(n.site.node in places for n in ancestors(escape.nodes))
        for run in program.runs
        for escape in run.machine.escapes
    )
