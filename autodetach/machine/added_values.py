"""Terms of a loss that are made of values alone: no gradient knows of what is only added to a sum."""

from __future__ import annotations

import ast

from autodetach.machine.activations import diverge, within
from autodetach.machine.events import HistoryLost
from autodetach.machine.graph import ARRAY, COPIES, DETACHED, NUMBER, Differentiation, Lost, Node, ancestors
from autodetach.machine.state import State
from autodetach.machine.values import Sym, Tensor, Value, joined

ADDING = frozenset({"add"})
"""What makes a sum of its operands. What is taken away may be a baseline, or correct a value that stands there."""
LINEAR = ADDING | frozenset("neg mean sum mul div to float double squeeze view reshape".split())
"""What hands its gradient on whatever the values are, if it is given only one tensor with history."""
SIGNED = LINEAR | {"sub"}
"""What the terms of a sum stand in, which have a sign."""
ASKED = frozenset({DETACHED, NUMBER})
"""How a program asks for mere values."""
COMPARED = ASKED | {ARRAY}
"""How a loss of PyTorch was given such a value."""


def note_sum(m: State, name: str, total: Node, inputs: list[Value]) -> None:
    """Have a sum know of what those of its terms are made that have no history.

    Else note what of that goes into other operations: `log(sum(exp(x - m))) + m` has the gradient that it should have.
    """
    if name in ADDING:
        if values := _values_only(inputs):
            m.added[total] = values
        return
    for t in inputs:
        if (type(t) is Sym or (type(t) is Tensor and t.node is None)) and t.lost:
            m.entering.update(one.node for one in t.lost)


def _values_only(inputs: list[Value]) -> tuple[Lost, ...]:
    """Of what the terms of a sum that have no history are the values, if that is all that they are made of."""
    plain = [t for t in inputs if type(t) is Tensor and t.node is None]
    numbers = joined(*(t.lost for t in inputs if type(t) is Sym))
    if not numbers and not any(t.lost or t.weights for t in plain):
        return ()
    lost = joined(*(t.lost for t in plain))
    if numbers:
        return numbers if not plain and all(one.how in ASKED for one in numbers) else ()
    if not all(one.how in COPIES or (one.compared is not None and one.how in COMPARED) for one in lost):
        return ()
    return joined(lost, *(t.weights for t in plain))


def note_added(m: State, d: Differentiation) -> None:
    """Note the terms of what is differentiated that are made of values which were read in the same pass.

    Those of an earlier pass are of what was trained since, as an average over the weights of all passes is.
    """
    involved, inside, terms, sums = set[Node](), set[Node](), set[Node](), list[Node]()
    for node in d.walked:
        if node not in inside:
            terms.add(node)
        if node in inside or node.op not in SIGNED:
            inside.update(node.parents)
        if node in involved or not _is_linear(node):
            involved.update(node.parents)
            m.entering.update(one.node for one in m.added.get(node, ()))
        elif node in m.added:
            sums.append(node)
    for node in sums:
        lost = [(one, one.loops if one.node.leaf else one.node.loops) for one in m.added[node]]
        if all(one.sure and diverge(loops, d.loops) is None for one, loops in lost):
            fresh = tuple(one for one, loops in lost if within(loops, d.loops))
            asked = any(one.how not in COPIES and not one.node.leaf for one in fresh)
            if fresh and not (asked and _is_correction(m, fresh, terms)):
                m.facts.append(HistoryLost(d.site, fresh, tuple(m.trail), False, (), node, added=True, asked=asked))


def _is_correction(m: State, lost: tuple[Lost, ...], terms: set[Node]) -> bool:
    """Whether values correct what is there besides: what they go into as well, or `easy` in `easy + (hard - easy)`."""
    return any(one.node in m.entering for one in lost) or not terms.isdisjoint(ancestors(one.node for one in lost))


def _is_linear(node: Node) -> bool:
    if node.op not in LINEAR or node.assumed or (node.op not in ADDING and len(node.operands) != 1):
        return False
    if node.op != "div":
        return True
    place = node.site.node
    divided = place.left if isinstance(place, ast.BinOp) else place.target if isinstance(place, ast.AugAssign) else None
    return any(expression is divided and value is node.operands[0] for expression, value in node.site.operands)
