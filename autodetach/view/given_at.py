"""Where what a node computes with was given to it, as it is written."""

from __future__ import annotations

import ast

from autodetach.machine.graph import Node
from autodetach.machine.operands import expression_of
from autodetach.machine.values import Opaque, Tensor, Value
from autodetach.view.program import handed


def given_at(node: Node, operand: Value, *, inner: bool = False) -> ast.expr | None:
    """The expression of an operand at the outermost call that is given it: `D(fake)`, not a line inside of `D`.

    The `inner` one is that a call further in: of a function to which others hand one fake and another.
    """
    found = [expression_of(node, operand)]
    if isinstance(operand, (Tensor, Opaque)):
        found += handed(node.chain, operand)
    return found[-2] if inner and len(found) > 1 else found[-1]
