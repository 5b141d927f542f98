"""Whether what a container keeps is differentiated from there, in a later pass than that which put it there."""

from __future__ import annotations

from collections.abc import Iterable

from autodetach.machine.activations import Activation, Pass, pass_of
from autodetach.machine.events import Stored
from autodetach.machine.graph import Differentiation, Node
from autodetach.machine.held import graph_in
from autodetach.machine.run import Run
from autodetach.machine.tails import Tails, is_draw_of_one_pass, loops_around, tails_of


class Walks:
    """What was made of which node, of what a differentiation has walked."""

    def __init__(self) -> None:
        self._made: dict[Differentiation, dict[Node, list[Node]]] = {}

    def made_of(self, node: Node, d: Differentiation) -> list[Node]:
        """The nodes on the way of `d` down to `node` that have it as a parent."""
        made = self._made.get(d)
        if made is None:
            made = self._made[d] = {}
            for child in d.walked:
                for parent in child.parents:
                    made.setdefault(parent, []).append(child)
        return made.get(node, [])


def is_differentiated_later(run: Run, events: list[Stored], walks: Walks) -> bool:
    """Whether what is stored is differentiated from there in a later pass, even where the container is emptied then.

    Where each pass of a loop reads at the end what itself has put there, that is what its inner loops are for.
    """
    gathered = [e for e in events if e.how != "key" and e.node.walked_by]
    if all(e.taken is None for e in gathered):
        return False
    at_end = trained_at_end(run, gathered, walks)
    around = [e.loops if at_end is None else loops_around(e.loops, at_end.loop) for e in gathered]
    activations = {outer.activation for loops in around for outer in loops}
    return any(_used_later(gathered, activation, walks) for activation in activations)


def _used_later(events: list[Stored], activation: Activation, walks: Walks) -> bool:
    """Whether stored elements are differentiated after the passes that stored them, through their container.

    What a pass differentiates of the one just before it comes from a variable (`q = net(x)`), not from the container.
    So may what is differentiated of the last one behind the loop. Layers that each keep something of their own do so
    in one pass of the loop over them, and no later one adds to it. Where but one pass stores anything, as of a loop
    over the listeners of a step, all of which are known, and the loop around keeps it, that step is what counts.
    """
    stored = [(event, own) for event in events if (own := pass_of(event.loops, activation)) is not None]
    last = max((own.index for _, own in stored), default=0)
    is_only = all(own.index == last for _, own in stored)
    is_all = is_only and activation.exact
    if is_only and activation.over_modules:
        return False
    for event, own in stored:
        if own.index == last and not is_only:
            continue
        for d in event.node.walked_by:
            now = pass_of(d.loops, activation)
            if d.number <= event.clock or now is own or (is_all and _is_kept_around(event, own, d)):
                continue
            if now is None or now.index > own.index + 1:
                if _is_read_by(d, event, own, 1, walks):
                    return True
            elif _is_read_by(d, event, own, 0, walks) and any(
                e is not event and d.number > e.clock and d in e.node.walked_by and own not in e.loops for e in events
            ):
                return True  # one differentiation over elements of several passes
    return False


def _is_kept_around(event: Stored, own: Pass, d: Differentiation) -> bool:
    """Whether a differentiation is in the same pass of a loop around, which ends with what was stored still there."""
    around = event.loops[: event.loops.index(own)]
    return any(p in d.loops and p.activation.number in event.held for p in around)


def _is_read_by(d: Differentiation, event: Stored, own: Pass, passes: int, walks: Walks) -> bool:
    """Whether a differentiation begins at what was stored, or comes to it by what was made of it so many passes later.

    What is made of it sooner, or before anything has read its container, is made of a variable.
    """
    if event.taken is None or d.number <= event.taken:
        return False
    if event.node in d.roots:
        return True
    for node in walks.made_of(event.node, d):
        now = pass_of(node.loops, own.activation)
        if node.number > event.taken and (now is None or now.index > own.index + passes):
            return True
    return False


def may_be_drawn(run: Run, events: list[Stored], walks: Walks, at_end: Tails | None) -> bool:
    """Whether what is stored may be differentiated by its place in the container, which is not known."""
    nodes = {event.node for event in events}
    return any(
        not draw.others.isdisjoint(nodes)
        and _is_walked(draw.taken, draw.clock, walks)
        and not (at_end is not None and is_draw_of_one_pass(draw, events, at_end.loop))
        for draw in run.machine.drawn
    )


def _is_walked(taken: Iterable[Node], clock: int, walks: Walks) -> bool:
    """Whether what was taken at a time is differentiated, and that by what is made of it since."""
    return any(
        d.number > clock and (n in d.roots or any(m.number > clock for m in walks.made_of(n, d)))
        for n in taken
        for d in n.walked_by
    )


def trained_at_end(run: Run, events: list[Stored], walks: Walks) -> Tails | None:
    """How a list is read from its end, if each pass does so to differentiate what itself has put there."""
    at_end = tails_of(run, events)
    nodes = {event.node for event in events}
    for tail in at_end.every if at_end is not None else ():
        taken = [t.node for item in tail.items for t in graph_in(item) if t.node in nodes]
        if _is_walked(taken, tail.clock, walks):
            return at_end
    return None
