"""Detaching what is added up where the program has copied it, or put it into a container, before."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.detaching import element_candidates, leaves_of_display
from autodetach.machine.graph import Node
from autodetach.machine.growth import Element, Growth
from autodetach.suspect import Candidate
from autodetach.view.program import Program


def kept_before(program: Program, growth: Growth) -> Iterator[Candidate]:
    """`value.clone()` is no copy without the graph; and what a report holds, several sums may be made of."""
    sources = {node: None for element in growth.elements for node in _sources(element)}
    copied = [n.site.node for n in sources if _is_copied(n.site.node)]
    kept: list[ast.expr] = []
    for event in growth.run.machine.stored:
        if event.node in sources and event.element is not None:
            kept += (e for e, value in leaves_of_display(event.element, event.value) if value is event.tensor)
    for places, what in ((copied, "copy"), (kept, "keep")):
        targets = [(e, None) for e in dict.fromkeys(places) if isinstance(e, ast.expr)]
        if targets:
            yield from element_candidates(program, targets, number=False, what=what)


def _sources(element: Element) -> Iterator[Node]:
    """What the expression of an element reads, as far as it has history."""
    inside = set(ast.walk(element.expression)) if element.expression is not None else set()
    stack, seen = [element.node], set[Node]()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.site.node in inside:
            stack.extend(node.parents)
        elif not node.leaf:
            yield node


def _is_copied(expression: ast.AST) -> bool:
    return (
        isinstance(expression, ast.Call)
        and isinstance(expression.func, ast.Attribute)
        and (expression.func.attr == "clone")
    )
