"""Whether a tensor is of 16 bits, as far as the program says so: the sum of such tensors is no sum of their numbers.

Automatic casts have losses in single precision, and what multiplies matrices in the lower one:
https://docs.pytorch.org/docs/stable/amp.html#autocast-op-reference
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from autodetach.kept import kept
from autodetach.machine.children import walk
from autodetach.machine.core import Core
from autodetach.machine.graph import Node
from autodetach.machine.loss_options import OF_LOSSES
from autodetach.machine.spelling import arguments_of, last_word
from autodetach.machine.values import Tensor

LOW = frozenset("bfloat16 float16 half BFloat16Tensor HalfTensor".split())
HIGH = frozenset("double float float32 float64 DoubleTensor FloatTensor".split())
MULTIPLYING = frozenset(
    """
    Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d GRU LSTM Linear MultiheadAttention RNN addmm
    bmm conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d linear matmul mm
    scaled_dot_product_attention
    """.split()
)
"""What automatic casts have in the lower precision."""


MAX_LOOKED_AT = 200
"""So many operations are looked at behind a number."""


class Said(NamedTuple):
    """What a file says: that something is cast to 16 bits, and that operations are by themselves."""

    casts: bool
    automatic: bool


def is_low(m: Core, t: Tensor | None) -> bool:
    """Whether a tensor with history may be of 16 bits, as the file says that reads its number."""
    if t is None or t.node is None or not m.trail:
        return False
    tree = getattr(m.trail[-1][1].top.module, "tree", None)
    said = _said(tree) if isinstance(tree, ast.Module) else Said(False, False)
    return any(said) and _comes_from_low(t.node, said)


@kept
def _said(tree: ast.Module) -> Said:
    contexts = [n for n in walk(tree) if isinstance(n, ast.Call) and last_word(n.func) == "autocast"]
    inside = {n for call in contexts for n in ast.walk(call)}
    casts = any(isinstance(n, ast.Attribute) and n.attr in LOW and n not in inside for n in walk(tree))
    return Said(casts, not all(map(_is_off, contexts)))


def _is_off(context: ast.Call) -> bool:
    """`autocast("cpu", enabled=False)`."""
    given = (k.value for k in context.keywords if k.arg == "enabled")
    return any(isinstance(value, ast.Constant) and not value.value for value in given)


def _comes_from_low(last: Node, said: Said) -> bool:
    pending, seen = [last], {last}
    while pending and len(seen) < MAX_LOOKED_AT:
        node = pending.pop()
        if node.leaf:
            if said.casts:
                return True  # a network that was cast, as far as nothing on the way is cast back
            continue
        types = _types(node)
        if types & LOW or (said.automatic and node.op in MULTIPLYING):
            return True
        if types & HIGH or (not said.casts and node.op in OF_LOSSES):
            continue
        pending += (parent for parent in node.parents if parent not in seen)
        seen.update(node.parents)
    return False


def _types(node: Node) -> set[str]:
    """The types that an operation casts to: `float` of `x.float()`, `bfloat16` of `x.to(torch.bfloat16)`."""
    if node.op not in ("to", "type"):
        return {node.op}
    call = node.site.node
    return {last_word(given) for given in arguments_of(call)} if isinstance(call, ast.Call) else set()
