"""Products that fold the leading dimensions of what they multiply into one, as PyTorch does before it calls `mm`.

Where these do not lie in order in memory that takes a copy, and the copy is what is saved: changing the tensor in place
later harms nothing. A test holds this against PyTorch.
"""

from __future__ import annotations

from collections.abc import Mapping

from autodetach.machine.torch_operations import VIEWS
from autodetach.machine.values import Tensor, Value

FOLDING = frozenset("LazyLinear Linear MultiheadAttention einsum linear matmul tensordot inner".split())

_REORDERING = VIEWS & set("H adjoint as_strided broadcast_to expand expand_as mH mT moveaxis movedim permute".split())
_REORDERING |= {"swapaxes", "swapdims", "transpose", "unfold"}
_OF_MATRICES = ("T", "t")
"""Their result has two dimensions, if not told otherwise, and so there is nothing to fold."""


def order_of_view(name: str, of: Tensor) -> str:
    """See `Tensor.order`, of the view that an operation gives."""
    if name in _OF_MATRICES:
        return "flat"
    return "deep" if name in _REORDERING or of.order else ""


def is_copied(name: str, operand: Value) -> bool:
    """Whether an operation may save a copy of an operand in its place."""
    return name in FOLDING and isinstance(operand, Tensor) and operand.order == "deep" and _may_be_deep(operand)


def is_transposed_first(name: str, options: Mapping[str, Value], operand: Value) -> bool:
    """Whether a module may transpose an operand before it folds it: attention with `batch_first=True`."""
    if name != "MultiheadAttention" or not isinstance(operand, Tensor) or operand.parameter:
        return False
    return ("**" in options or options.get("batch_first", False) is not False) and _may_be_deep(operand)


def _may_be_deep(operand: Tensor) -> bool:
    """Whether a tensor may have more than two dimensions, so that there is something to fold."""
    return operand.shape is None or len(operand.shape) > 2
