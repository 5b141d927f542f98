"""Where a differentiation leaves the graph of its pass: for an earlier pass, or for what was made before the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from autodetach.machine.activations import Activation, Pass, diverge, pass_of
from autodetach.machine.graph import Differentiation, Node, ancestors
from autodetach.machine.interpreter import Machine
from autodetach.machine.run import Run
from autodetach.machine.values import Opaque, Tensor, Value

Crossed = tuple[Node, Value, Node]
"""A node, its operand from an earlier pass or from before the loop, and the node that made the operand."""
Entry = tuple[Node | None, Value, Node]
"""A node of the pass (None for a root), its operand from outside of the loop, and the node that made the operand."""


def crossings(d: Differentiation, now: Pass) -> Iterator[Crossed]:
    """Where a differentiation enters graph of earlier passes of a loop."""
    for node in d.walked:
        if now not in node.loops:
            continue
        yield from crossed_operands(node, now)


def passes_of_generator(node: Node, earlier: Iterable[Differentiation], d: Differentiation) -> tuple[Pass, Pass] | None:
    """The pass of a generator in which a node was made, and the last one of which `d` walks something.

    Only if an earlier differentiation stands between both, as a loop that consumes a generator asks for what comes next
    between two passes of its own; and if the generator, not its consumer, has taken something over from pass to pass.
    """
    clocks = [o.number for o in earlier]
    found = [
        apart
        for n in d.walked
        if (apart := diverge(node.loops, n.loops)) is not None
        and pass_of(d.loops, apart[1].activation) is None
        and any(apart[0].started < clock < apart[1].started for clock in clocks)
    ]
    apart = max(found, key=lambda apart: apart[1].started, default=None)
    return apart if apart is not None and any(crossings(d, apart[1])) else None


def window_begin(run: Run, d: Differentiation, before: Pass, now: Pass) -> Pass:
    """The pass behind the last one that the same call has differentiated, where several make one window; else `now`.

    What a pass takes from another one of its window is as it must be: the fault is what comes from an earlier window.
    """
    from autodetach.view.by_call import at_call

    passes = [p for o in at_call(run, d.call) if o.number < d.number for p in o.loops]
    ends = [p.index for p in passes if p.activation is now.activation]
    if not ends or not before.index <= ends[-1] < now.index - 1:
        return now
    begin = (p for n in d.walked for p in n.loops if p.activation is now.activation and p.index == ends[-1] + 1)
    first = next(begin, now)
    return first if any(crossings(d, first)) else now


def crossed_operands(node: Node, now: Pass) -> Iterator[Crossed]:
    """The operands of a node that were made in earlier passes of the loop."""
    for parent in node.parents:
        there = pass_of(parent.loops, now.activation)
        if parent.leaf or parent.weak or there is None or there is now:
            continue
        for operand in operands_from(node, parent):
            yield node, operand, parent


def spent_beside(machine: Machine, crossed: list[Crossed], now: Pass) -> list[Crossed]:
    """What else a pass computes with that has come from an earlier one, and hangs on what the loop has freed.

    Of a window of many passes, a few stand for all: the next loss may not come to it in those that are run.
    """
    taken = {maker for _, _, maker in crossed}
    children = {c.child: None for c in machine.crossings if now in c.child.loops and not c.child.weak}
    others = (other for child in children for other in crossed_operands(child, now) if other[2] not in taken)
    return [other for other in others if any(_is_spent(n, now) for n in ancestors([other[2]]))]


def _is_spent(node: Node, now: Pass) -> bool:
    freed = node.freed_by
    return node.saves and freed is not None and pass_of(freed.loops, now.activation) is not None


def operands_from(node: Node, parent: Node) -> list[Value]:
    """The operands of a node that bring it one of its parents."""
    operands: list[Value] = [o for o in node.operands if getattr(o, "node", None) is parent]
    if not operands:  # changed in place since: it has a younger node by now
        operands = [o for o in node.operands if isinstance(o, (Tensor, Opaque))][:1]
    return operands


def entered(d: Differentiation, activation: Activation) -> Iterator[Entry]:
    """Where a differentiation leaves the graph of the loop's passes for what was made before the loop."""
    return entered_from(d, in_loop(activation))


def in_loop(activation: Activation) -> Callable[[Node], bool]:
    """Tells of a node whether a loop has made it."""
    return lambda node: pass_of(node.loops, activation) is not None


def entered_from(d: Differentiation, is_inside: Callable[[Node], bool]) -> Iterator[Entry]:
    """Where a differentiation leaves some part of the graph for what was made before that."""
    for root in d.roots:
        if not is_inside(root) and not root.leaf:
            operand = next((o for o in d.operands if getattr(o, "node", None) is root), None)
            yield None, operand, root
    for node in d.walked:
        if not is_inside(node):
            continue
        for parent in node.parents:
            if parent.leaf or parent.weak or is_inside(parent):
                continue
            operand = next((o for o in node.operands if getattr(o, "node", None) is parent), None)
            yield node, operand, parent
