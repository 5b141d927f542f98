"""Terms of a loss that are made of values alone: no gradient knows of what is only added to a sum."""

from __future__ import annotations

import ast

from autodetach.machine.events import HistoryLost
from autodetach.machine.graph import COPIES, Differentiation, Lost, Node, diverge, within
from autodetach.machine.state import State
from autodetach.machine.values import Tensor, Value, joined

ADDING = frozenset({"add"})
"""What makes a sum of its operands. What is taken away may be a baseline, or correct a value that stands there."""
LINEAR = ADDING | frozenset("neg mean sum mul div to float double squeeze view reshape".split())
"""What hands its gradient on whatever the values are, if it is given only one tensor with history."""


def note_sum(m: State, name: str, total: Node, inputs: list[Value]) -> None:
    """Have a sum know of what those of its terms are made that have no history."""
    if name in ADDING and (values := _values_only(inputs)):
        m.added[total] = values


def _values_only(inputs: list[Value]) -> tuple[Lost, ...]:
    """Of what the terms of a sum that have no history are the values, if that is all that they are made of."""
    plain = [t for t in inputs if type(t) is Tensor and t.node is None]
    if not any(t.lost or t.weights for t in plain):
        return ()
    lost = joined(*(t.lost for t in plain))
    return joined(lost, *(t.weights for t in plain)) if all(one.how in COPIES for one in lost) else ()


def note_added(m: State, d: Differentiation) -> None:
    """Note the terms of what is differentiated that are made of values which were read in the same pass.

    Those of an earlier pass are of what was trained since, as an average over the weights of all passes is.
    """
    involved = set[Node]()
    for node in d.walked:
        if node in involved or not _is_linear(node):
            involved.update(node.parents)
        elif node in m.added:
            lost = [(one, one.loops if one.node.leaf else one.node.loops) for one in m.added[node]]
            if all(one.sure and diverge(loops, d.loops) is None for one, loops in lost):
                fresh = tuple(one for one, loops in lost if within(loops, d.loops))
                if fresh:
                    m.facts.append(HistoryLost(d.site, fresh, tuple(m.trail), False, (), node, added=True))


def _is_linear(node: Node) -> bool:
    if node.op not in LINEAR or node.assumed or (node.op not in ADDING and len(node.operands) != 1):
        return False
    if node.op != "div":
        return True
    place = node.site.node
    divided = place.left if isinstance(place, ast.BinOp) else place.target if isinstance(place, ast.AugAssign) else None
    return any(expression is divided and value is node.operands[0] for expression, value in node.site.operands)
