"""The gradient by which a state moves is kept without its graph, where an object takes it: forces of a simulation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.activations import pass_of
from autodetach.machine.children import walk
from autodetach.machine.graph import ancestors
from autodetach.machine.growth import Growth
from autodetach.machine.values import Tensor
from autodetach.suspect import Candidate
from autodetach.view.assigned import given_to
from autodetach.view.program import Program, listed


def gradient_kept(program: Program, growth: Growth) -> Iterator[Candidate]:
    """`state.forces = out["forces"].detach()`, where each pass moves all of a state by the forces of the last one.

    They are differentiable for those who fit the network that gives them. To cut one part of the state leaves the
    others.
    """
    from autodetach.codemods.append_method import AppendMethod

    for name in dict.fromkeys(_read(growth)):
        given = list(_given(program, name))
        if given and None not in given:
            places = [e for e in given if e is not None and not isinstance(e, ast.Constant)]
            message = f"keep {listed(places)} without its graph as `{name}`"
            yield Candidate(message, tuple(AppendMethod(e, "detach") for e in places), last_resort=True)


def _read(growth: Growth) -> Iterator[str]:
    """The attributes with a gradient that has a graph, of which the passes make what they add."""
    for node in ancestors([growth.node, *(e.node for e in growth.elements)]):
        if pass_of(node.loops, growth.activation) is not None:
            for expression, value in node.site.operands:
                is_gradient = isinstance(value, Tensor) and value.node is not None and bool(value.from_grad)
                if is_gradient and isinstance(expression, ast.Attribute) and isinstance(expression.ctx, ast.Load):
                    yield expression.attr


def _given(program: Program, name: str) -> Iterator[ast.expr | None]:
    """What is assigned to the attribute, anywhere; None where that has no expression of its own."""
    for tree in program.analysis.trees:
        for node in walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store):
                yield given_to(node, program.statement(node))
