"""What callers hand to the function that accumulates it: `meter.update(loss)` may be given what has no graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from autodetach.candidates.detaching import element_candidates, leaves_of_display, narrowed_to
from autodetach.machine.graph import Node, Site, calls_of
from autodetach.machine.growth import Element, Growth
from autodetach.machine.held import graph_in
from autodetach.machine.values import Mapping, Sequence, Value
from autodetach.suspect import Candidate
from autodetach.view.program import Program

MAX_NODES = 32
"""So many are looked at between what is added and what was handed over for it."""


def given_to_sum(growth: Growth) -> list[tuple[ast.expr, object]]:
    """What a caller hands to the function that accumulates it: `loss` of `meter.update(loss, n)`, of `[loss, kl]`."""
    found = [(e, v) for element in growth.elements for e, v in next(_handed(element), ())]
    return list({id(e): (e, v) for e, v in found}.values())


def handed_before(program: Program, growth: Growth) -> Iterator[Candidate]:
    for given in _given_before(growth):
        found = element_candidates(program, [given], number=False, what="hand over")
        yield from (candidate for candidate in found if not candidate.last_resort)


def _given_before(growth: Growth) -> Iterator[tuple[ast.expr, object]]:
    """What callers further out hand to those that hand it on: a log that every value comes through, numbers too."""
    if len(growth.elements) == 1:
        for given in islice(_handed(growth.elements[0]), 1, None):
            yield from given if len(given) == 1 else ()


def _handed(element: Element) -> Iterator[list[tuple[ast.expr, object]]]:
    """What the open calls were given of an element, innermost first."""
    for site in calls_of(element.chain):
        matching = [e for e, v in site.operands if v is element.value or getattr(v, "node", None) is element.node]
        if matching:
            yield [(matching[0], element.value)]
        elif len(made_of := _made_of(element.node, site)) == 1:
            yield made_of
        else:
            shown = [leaf for e, v in site.operands if _holds(v, element.node) for leaf in leaves_of_display(e, v)]
            yield [(narrowed_to(e, v), v) for e, v in shown]


def _made_of(node: Node, site: Site) -> list[tuple[ast.expr, object]]:
    """What a call was given that a node is made of there: `x` of `0.9 * self.mean + 0.1 * x.mean()`."""
    given: dict[Node, list[tuple[ast.expr, object]]] = {}
    for e, v in site.operands:
        if isinstance(made := getattr(v, "node", None), Node):
            given.setdefault(made, []).append((e, v))
    found: list[tuple[ast.expr, object]] = []
    pending, seen = list(node.parents), {node}
    while pending and len(seen) <= MAX_NODES:
        at = pending.pop()
        if at not in seen:
            seen.add(at)
            found += given.get(at, ())
            pending += () if at in given else at.parents
    return found


def _holds(value: Value, node: Node) -> bool:
    """Whether a list, tuple or dict holds what a node has made."""
    return isinstance(value, (Sequence, Mapping)) and any(t.node is node for t in graph_in(value))
