"""Whether what a loop hands to its next pass holds the graph of what grows: so it does when that is cut."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from autodetach.machine.graph import Activation, Node, ancestors, diverge, pass_of
from autodetach.machine.growing_chains import linked_nodes
from autodetach.machine.growth import Growth, saved_in_pass
from autodetach.machine.program_values import Frame
from autodetach.view.program import Program, stable


def is_held_by_chain(before: Program, after: Program, growth: Growth, made: Sequence[Node], *, dies: bool) -> bool:
    """Whether a state, of which nothing is told, holds what is `made` in a pass in a program that was edited since.

    So it is where a network that nobody trains decodes: its state holds all passes, and to detach frees nothing. It is
    enough that it holds some of what each pass saves, if what grows `dies` with the function that has the loop.
    """
    if growth.activation.node is None or growth.dead or not made:
        return False
    told = {g.node.site.node for g in after.growths if g.kind == "chain"}  # and so repaired by itself
    links = [n for run in after.runs for n in linked_nodes(run) if not n.walked_by and n.site.node not in told]
    held = {
        (n.site.scope, *after.spot(n.site.node))
        for link in links
        for n in ancestors([link])
        if (apart := diverge(n.loops, link.loops)) is not None and _is_again(apart[0].activation, growth.activation)
    }
    if any((n.site.scope, *before.spot(n.site.node)) in held for n in made):
        return True
    own = saved_in_pass(made, pass_of(made[0].loops, growth.activation))
    saving = {(n.site.scope, *before.spot(n.site.node)) for n in own}
    return dies and not saving.isdisjoint(held)


def _is_again(one: Activation, other: Activation) -> bool:
    """Whether a loop of an edited program is one of the program that it was."""
    if not (isinstance(one.frame, Frame) and isinstance(other.frame, Frame)):
        return False
    return one.frame.qualname == other.frame.qualname and _header(one.node) == _header(other.node)


def _header(loop: ast.AST | None) -> str:
    """What a loop goes over, or asks."""
    head = getattr(loop, "iter", None) or getattr(loop, "test", None)
    return "" if head is None else stable(head)
