"""A gradient that the program has computed itself, and set as the `.grad` of what is kept, is set without its graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.detaching import SHARED
from autodetach.machine.children import walk
from autodetach.machine.graph import trail_of
from autodetach.machine.growth import Growth
from autodetach.suspect import Candidate
from autodetach.view.program import Program, listed


def set_without_its_graph(program: Program, growth: Growth) -> Iterator[Candidate]:
    """`x.grad = (pull + (x - x0)).detach()`: what is computed with `x` refers to it.

    To store `x.detach()` would not free `x`: measured on PyTorch 2.13, no collection clears such a circle.
    """
    from autodetach.codemods.append_method import AppendMethod

    scopes = {program.scope(statement) for statement, _ in trail_of(growth.node)}
    places = [
        node.value
        for tree in program.analysis.trees
        for node in walk(tree)
        if isinstance(node, ast.Assign) and any(map(_is_gradient, node.targets)) and program.scope(node) in scopes
    ]
    places = [value for value in places if not isinstance(value, ast.Constant)]
    if places:
        doubt = SHARED if any(map(program.is_imported, places)) else None
        message = f"set the gradient without its graph: `.detach()` on {listed(places)}"
        yield Candidate(message, tuple(AppendMethod(value, "detach") for value in places), doubt)


def _is_gradient(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and target.attr == "grad"
