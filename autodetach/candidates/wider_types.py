"""Whether a new tensor may have another type than the one that was changed in place, which keeps its own."""

from __future__ import annotations

import ast
from itertools import islice

from autodetach.machine.events import MAX_LOOKED_AT
from autodetach.machine.graph import Site, ancestors
from autodetach.machine.values import Opaque, Tensor
from autodetach.view.program import text


def doubt_of_type(target: Tensor, changed: Site) -> str | None:
    """Why computing anew may give another type: `h *= w` keeps that of `h`, and `h * w` may have the one of `w`.

    That asks for the operands of all changes in place of the same tensor. What `h` was computed from is no wider.
    """
    sites = {changed}
    taken: set[int] = set()
    for node in islice(ancestors([target.node] if target.node is not None else []), MAX_LOOKED_AT):
        if any(value is target for _, value in node.site.operands[:1]):
            sites.add(node.site)
        else:
            taken |= {id(value) for _, value in node.site.operands}
    for site in sites:
        for expression, value in site.operands[1:]:
            if id(value) not in taken and _may_be_wider(value, target) and not isinstance(expression, ast.Constant):
                return f"`{text(expression)}` may be of a wider type, which a new tensor takes over"
    return None


def _may_be_wider(value: object, target: Tensor) -> bool:
    """Whether nobody knows that an operand is of the type that tensors have by default, or of integers."""
    if isinstance(value, Opaque):
        return value.node is None
    if not isinstance(value, Tensor) or value.node is not None or value.is_float is not None:
        return False
    return value.shape != () or target.shape == ()
