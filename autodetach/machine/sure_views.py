"""Whether a tensor is a view for certain: of what lies in order in memory, `reshape` makes no copy.

What does was measured on PyTorch 2.13, for operands in any order; a test holds it.
"""

from __future__ import annotations

from autodetach.machine.torch_operations import OPS
from autodetach.machine.torch_semantics import Shape
from autodetach.machine.values import Tensor

RESHAPING = frozenset("ravel reshape reshape_as".split())
IN_ORDER = frozenset("Embedding Linear addmm bmm cat embedding linear matmul mm stack".split())
"""Operations that write their result in order; `cat` and `stack` do not where images are permuted before."""
DEPTH = 8


def is_view(t: Tensor) -> bool:
    """Whether it shares the memory of another tensor for certain, as far as that is known."""
    if t.view_of is not None:
        return True
    node = t.node
    return node is not None and node.op in RESHAPING and _is_in_order(node.operands[0] if node.operands else None)


def _is_in_order(value: object, depth: int = DEPTH) -> bool:
    node = value.node if isinstance(value, Tensor) and not value.order else None
    if node is None or node.leaf or not depth:
        return False
    if node.op in IN_ORDER:
        return not any(isinstance(o, Tensor) and o.order == "deep" for o in node.operands)
    # One tensor is computed with, element by element: the result lies as that does.
    is_alone = len(node.operands) == 1 and node.op in OPS and OPS[node.op].shape is Shape.SAME
    return is_alone and _is_in_order(node.operands[0], depth - 1)
