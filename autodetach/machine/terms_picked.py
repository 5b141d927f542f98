"""Sums of terms each of which is made of another tensor that is there already: they are no more than these are."""

from __future__ import annotations

import ast

from autodetach.machine.activations import Activation
from autodetach.machine.graph import Node
from autodetach.machine.operands import expression_of
from autodetach.machine.words import names_loader
from autodetach.node_types import COMPREHENSIONS


def picks_each(activation: Activation, made: list[Node]) -> bool:
    """Whether each pass of a comprehension picks something that has history since before it began: `features[name]`.

    A network keeps the features of its layers for as long as their graph is needed, so that a loss of each adds little.
    """
    node = activation.node
    if not isinstance(node, COMPREHENSIONS) or len(node.generators) != 1 or names_loader(node.generators[0].iter):
        return False
    targets = frozenset(n.id for n in ast.walk(node.generators[0].target) if isinstance(n, ast.Name))
    return bool(made) and all(_picks(one, activation, targets) for one in made)


def _picks(term: Node, activation: Activation, targets: frozenset[str]) -> bool:
    stack, seen = [term], set[Node]()
    while stack:
        node = stack.pop()
        if node in seen or node.number < activation.started:
            continue
        seen.add(node)
        for operand in node.operands:
            inner = getattr(operand, "node", None)
            is_old = isinstance(inner, Node) and not inner.leaf and inner.number < activation.started
            if is_old and _is_picked(expression_of(node, operand), targets):
                return True
        stack.extend(node.parents)
    return False


def _is_picked(expression: ast.expr | None, targets: frozenset[str]) -> bool:
    """Whether it is another one in each pass: the target of the comprehension itself, or an element by that key."""
    key = expression.slice if isinstance(expression, ast.Subscript) else expression
    return isinstance(key, ast.Name) and key.id in targets
