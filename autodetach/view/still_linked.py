"""Whether an edited program still links the graphs of all passes where the first one does."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TypeAlias

from autodetach.machine.activations import Activation, pass_of
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.growing_chains import linked_nodes
from autodetach.machine.growth import Growth
from autodetach.machine.held import graph_in
from autodetach.machine.program_values import Frame
from autodetach.once import once
from autodetach.view.held_by_chain import loop_known
from autodetach.view.program import Program

Places: TypeAlias = dict[object, set[tuple[object, ...]]]


def is_linked(before: Program, after: Program, place: tuple[object, ...], growth: Growth) -> bool:
    """Whether a place still links the graph of every pass to the next one, as where the sum begins with history.

    If it is spelled otherwise by now, it is one that links them and was not there before. Another loop may go on to do
    so by the same place, as the one that sums up a loss by the method that counts up what is shown.
    """
    linked = _linked(after).get(place[0], set())
    if (*place, loop_known(growth.activation)) in linked or not linked <= _linked(before).get(place[0], set()):
        return True
    # What begins in the last pass but one links once: `average = 0.9 * average` of a first loss that has its graph.
    link = growth.link or growth.node
    reading = _reading(after).get(link.site.scope, set())
    known = (link.site.scope, *before.spot(link.site.node), loop_known(growth.activation))
    return known in reading or not reading <= _reading(before).get(link.site.scope, set())


@once
def _linked(program: Program) -> Places:
    """The places of a program that link graph to that of earlier passes, by function: that, text, number and loop."""
    return _by_function(program, (one for run in program.runs for one in linked_nodes(run)))


@once
def _reading(program: Program) -> Places:
    """The places of a program that read graph of an earlier pass for what is there when all has run."""
    found: dict[tuple[ast.AST, Activation], Node] = {}
    for run in program.runs:
        held: dict[Activation, set[Node]] = {}
        for crossing in run.machine.crossings:
            child, parent, activation = crossing.child, crossing.parent, crossing.activation
            if child.weak or parent.leaf or pass_of(parent.loops, activation) is None:
                continue
            if activation not in held:
                frame = activation.frame
                values = frame.visible().values() if isinstance(frame, Frame) else ()
                held[activation] = set(ancestors(t.node for v in values for t in graph_in(v) if t.node is not None))
            if child in held[activation]:
                found[child.site.node, activation] = child
    return _by_function(program, ((node, activation) for (_, activation), node in found.items()))


def _by_function(program: Program, nodes: Iterable[tuple[Node, Activation]]) -> Places:
    found: Places = {}
    for node, activation in nodes:
        place = (node.site.scope, *program.spot(node.site.node), loop_known(activation))
        found.setdefault(node.site.scope, set()).add(place)
    return found
