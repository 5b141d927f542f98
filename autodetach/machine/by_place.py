"""Arguments that a function of PyTorch is given by name, at the places where they may stand as well."""

from __future__ import annotations

from autodetach.machine.loss_options import OF_LOSSES
from autodetach.machine.values import Value

FIRST = ("input", "tensors", "A", "x")
SECOND = ("other", "B")
"""How the first parameters of most functions are called."""
OF_FUNCTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("mm", "bmm"), ("input", "mat2")),
    **dict.fromkeys(("outer", "ger"), ("input", "vec2")),
    **dict.fromkeys(("pow", "float_power"), ("input", "exponent")),
    **dict.fromkeys(("addcmul", "addcdiv"), ("input", "tensor1", "tensor2")),
    **dict.fromkeys(("cdist", "cosine_similarity", "pairwise_distance"), ("x1", "x2")),
    **dict.fromkeys(
        """conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
        embedding embedding_bag linear""".split(),
        ("input", "weight"),
    ),
    "addmm": ("input", "mat1", "mat2"), "addmv": ("input", "mat", "vec"), "addr": ("input", "vec1", "vec2"),
    "as_tensor": ("data",), "asarray": ("obj",), "baddbmm": ("input", "batch1", "batch2"),
    "bilinear": ("input1", "input2", "weight"), "checkpoint": ("function",),
    "checkpoint_sequential": ("functions", "segments", "input"), "chunk": ("input", "chunks"),
    "dot": ("input", "tensor"), "lerp": ("input", "end", "weight"), "mv": ("input", "vec"), "scalar_tensor": ("s",),
    "scaled_dot_product_attention": ("query", "key", "value"), "split": ("tensor",), "tensor": ("data",),
    "where": ("condition", "input", "other"),
}  # fmt: skip
"""How those of other functions are called."""
BEFORE_OPTIONS = frozenset("input input1 input2 target log_probs targets anchor positive negative".split())
"""What a loss is computed of."""


def by_place(name: str, args: list[Value], kwargs: dict[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call with those by place that stand first: `matmul(input=a, other=b)` is `matmul(a, b)`."""
    if not kwargs:
        return args, kwargs
    placed, left = list(args), dict(kwargs)
    for words in _leading(name.rpartition(".")[2])[len(args) :]:
        word = next((word for word in words if word in left), None)
        if word is None:
            break
        placed.append(left.pop(word))
    return placed, left


def _leading(name: str) -> list[tuple[str, ...]]:
    """What the first parameters of a function may be called, place by place."""
    known = OF_FUNCTIONS.get(name)
    if known is None and name in OF_LOSSES:
        known = tuple(word for word in OF_LOSSES[name] if word in BEFORE_OPTIONS)
    return [FIRST, SECOND] if known is None else [(word,) for word in known]
