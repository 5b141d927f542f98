"""Whether what a loop hands to its next pass holds the graph of what grows: so it does when that is cut."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from autodetach.machine.activations import Activation, diverge, pass_of
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.growing_chains import linked_nodes
from autodetach.machine.growth import Growth, saved_in_pass
from autodetach.machine.program_values import Frame
from autodetach.once import once
from autodetach.view.program import Program, stable


def is_held_by_chain(before: Program, after: Program, growth: Growth, made: Sequence[Node], *, dies: bool) -> bool:
    """Whether a state, of which nothing is told, holds what is `made` in a pass in a program that was edited since.

    So it is where a network that nobody trains decodes: its state holds all passes, and to detach frees nothing. It is
    enough that it holds some of what each pass saves, if what grows `dies` with the function that has the loop.
    """
    if growth.activation.node is None or not isinstance(growth.activation.frame, Frame) or growth.dead or not made:
        return False
    held = _held(after, *loop_known(growth.activation))
    if not held:
        return False
    if any((n.site.scope, *before.spot(n.site.node)) in held for n in made):
        return True
    own = saved_in_pass(made, pass_of(made[0].loops, growth.activation))
    saving = {(n.site.scope, *before.spot(n.site.node)) for n in own}
    return dies and not saving.isdisjoint(held)


@once
def _held(program: Program, qualname: str, header: str) -> set[tuple[object, ...]]:
    """What is held over the passes of a loop of a function: function, text and number."""
    told = {g.node.site.node for g in program.growths if g.kind == "chain"}  # and so repaired by itself
    links = [n for run in program.runs for n, _ in linked_nodes(run) if not n.walked_by and n.site.node not in told]
    return {
        (n.site.scope, *program.spot(n.site.node))
        for link in links
        for n in ancestors([link])
        if (apart := diverge(n.loops, link.loops)) is not None and loop_known(apart[0].activation) == (qualname, header)
    }


def loop_known(activation: Activation) -> tuple[str, str]:
    """By what a loop of an edited program is known again: its function, and its header."""
    frame = activation.frame
    return (frame.qualname, _header(activation.node)) if isinstance(frame, Frame) else ("?", "")


def _header(loop: ast.AST | None) -> str:
    """What a loop goes over, or asks."""
    head = getattr(loop, "iter", None) or getattr(loop, "test", None)
    return "" if head is None else stable(head)
