"""Lists of which every pass reads only the end, what it has put there itself: `features[-len(blocks):]`."""

from __future__ import annotations

import ast
from collections.abc import Collection

from autodetach.machine.activations import Loops, Pass
from autodetach.machine.events import Drawn, Stored, Tail
from autodetach.machine.graph import Node
from autodetach.machine.held import graph_in
from autodetach.machine.run import Run
from autodetach.machine.values import Mapping, Sequence, Tensor, Value
from autodetach.named_tuples import NamedTuple


class Tails(NamedTuple):
    """What is read from the end of a list, and the loop in each of whose passes only what that has stored is read."""

    loop: ast.AST
    every: tuple[Tail, ...]

    @property
    def sites(self) -> tuple[ast.AST, ...]:
        """Where it is read."""
        return tuple(dict.fromkeys(tail.site.node for tail in self.every))


def tails_of(run: Run, events: list[Stored]) -> Tails | None:
    """How the list that `events` fill is read from its end, if each pass of a loop reads only what it has stored.

    Something of `events` must be read so.
    """
    container = events[-1].container
    tails = [tail for tail in run.machine.tails if tail.container is container]
    nodes = {event.node for event in events}
    if not any(t.node in nodes for tail in tails for item in tail.items for t in graph_in(item)):
        return None
    for loop in dict.fromkeys(p.activation.node for p in reversed(events[-1].loops)):
        if loop is not None and _passes_of(run, loop, container, tails) > 1:
            return Tails(loop, tuple(tails))
    return None


def are_all_of_their_pass(run: Run, loop: ast.AST, sites: Collection[ast.AST]) -> bool:
    """Whether a run reads no list at these places but as each pass of the loop reads what it has stored."""
    tails = [tail for tail in run.machine.tails if tail.site.node in sites]
    containers = {id(tail.container): tail.container for tail in tails}
    return all(
        _passes_of(run, loop, container, [t for t in tails if t.container is container]) > 0
        for container in containers.values()
    )


def _passes_of(run: Run, loop: ast.AST, container: Sequence | Mapping, tails: list[Tail]) -> int:
    """How many passes of a loop read the end of a list, if each reads what itself has stored, once at each place.

    How much that is, is known only where nothing is taken away, and each loop inside of a pass is run to its end.
    """
    every = [e for e in run.machine.stored if e.container is container]
    if any(e.how != "append" or e.inner is not None or not _is_whole(e.loops, loop) for e in every):
        return 0
    stored: dict[Node, list[Loops]] = {}
    for event in every:
        stored.setdefault(event.node, []).append(event.loops)
    seen: set[tuple[ast.AST, Pass]] = set()
    for tail in tails:
        now = _pass_in(tail.loops, loop)
        if now is None or (tail.site.node, now) in seen:
            return 0
        seen.add((tail.site.node, now))
        for item in tail.items:
            of = [each for t in graph_in(item) if t.node is not None for each in stored.get(t.node, ())]
            if not (of or _is_made_in(item, now)) or any(_pass_in(each, loop) is not now for each in of):
                return 0
    return len({now for _, now in seen})


def _is_made_in(item: Value, now: Pass) -> bool:
    """Whether a tensor without graph, as of a teacher, was made in a pass: no earlier one can have stored it."""
    return isinstance(item, Tensor) and item.node is None and item.born >= now.started > 0


def loops_around(loops: Loops, loop: ast.AST) -> Loops:
    """Those up to a loop, whichever of its executions."""
    own = _pass_in(loops, loop)
    return loops[: loops.index(own) + 1] if own is not None else loops


def is_draw_of_one_pass(draw: Drawn, events: Collection[Stored], loop: ast.AST) -> bool:
    """Whether what a draw may be meant for, of what was stored, was stored in the pass of the draw itself."""
    now = _pass_in(draw.loops, loop)
    return now is not None and all(_pass_in(e.loops, loop) is now for e in events if e.node in draw.others)


def _pass_in(loops: Loops, loop: ast.AST) -> Pass | None:
    return next((p for p in loops if p.activation.node is loop), None)


def _is_whole(loops: Loops, loop: ast.AST) -> bool:
    """Whether all loops inside of a pass of a loop are executed to their end."""
    own = _pass_in(loops, loop)
    return own is not None and all(p.activation.exact for p in loops[loops.index(own) + 1 :])
