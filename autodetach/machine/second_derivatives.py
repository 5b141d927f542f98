"""Whether a gradient that is computed with `create_graph=True` has history: whether it depends on what requires grad.

What a linear function hands back to its operand does not: `(3 * x).sum()` gives threes. Measured on PyTorch 2.13 for
each operation of the tables; what is not told of them there counts as linear, and what is not in view is assumed.
"""

from __future__ import annotations

from autodetach.machine.graph import Differentiation, Node, Storage
from autodetach.machine.torch_semantics import MODULES, Saved, lookup
from autodetach.machine.values import Tensor

STRAIGHT = frozenset(
    """
    CELU ELU LeakyReLU MultiheadAttention RReLU SELU addcdiv amax amin aminmax celu_ cholesky_solve clamp clamp_max
    clamp_min clip combinations complex conv_tbc copysign cummax cummin elu_ fft fft2 fftn float_power_ fmax fmin fmod
    gather ifft ihfft ihfft2 ihfftn index_copy ldexp leaky_relu_ lerp lstsq lu_solve masked_select max maximum median
    min minimum multi_head_attention_forward nan_to_num nanmean nanmedian nansum nextafter ormqr put remainder rfft
    rfft2 rfftn rrelu_ scatter_reduce selu_ sgn solve solve_ex solve_triangular sparse.addmm sparse.mm
    sparse.sampled_addmm sparse.sum stft take take_along_dim tensorsolve triangular_solve xlog1py xlogy
    """.split()
)
"""What saves operands or a result, but only compares them, or looks up places, for the gradient of one at least."""

CURVED = frozenset(
    """
    CrossEntropyLoss GaussianNLLLoss L1Loss Tanhshrink TripletMarginLoss TripletMarginWithDistanceLoss corrcoef cov
    cross_entropy gaussian_nll_loss gru_cell l1_loss lstm_cell nuclear_norm tanhshrink triplet_margin_loss
    triplet_margin_with_distance_loss
    """.split()
)
"""What depends on its operands although it saves none that a caller could change."""

BY_FIRST = frozenset(
    """
    BCELoss BCEWithLogitsLoss GroupNorm MultiLabelSoftMarginLoss RMSNorm binary_cross_entropy
    binary_cross_entropy_with_logits group_norm multilabel_soft_margin_loss native_group_norm rms_norm
    """.split()
)
"""What is linear in all but its first operand."""

OF_RESULT = frozenset({Saved.RESULT, Saved.INPUT_RESULT, Saved.OPERANDS_RESULT})


def bends(name: str, saved: frozenset[int], live: frozenset[int], at: int) -> bool:
    """Whether the gradient of the operand `at` depends on one that requires grad (`live`).

    `saved`: the operands that backward unpacks, by position, the first at 0.
    """
    plain_name = name.rstrip("_").rpartition(".")[2]
    if name in CURVED:
        return True
    if not STRAIGHT.isdisjoint((name, name.rstrip("_"), plain_name)):
        return False
    kind = MODULES[name].saved if name in MODULES else lookup(name).saved
    if kind in OF_RESULT:
        return True
    if at not in saved:
        return False
    if kind is Saved.CROSS:
        return not (saved & live).issubset({at})
    return 0 in live if name in BY_FIRST else True


ASSUMED, CERTAIN = 1, 2


def gradients_with_history(d: Differentiation) -> dict[Node, int]:
    """The nodes to which a differentiation brings a gradient that has history: for certain, or by assumption."""
    return bent_gradients(d) if d.create_graph else {}


def bent_gradients(d: Differentiation) -> dict[Node, int]:
    """The same, if the differentiation were asked to `create_graph`."""
    found: dict[Node, int] = {}
    walked = set(d.walked)
    for node in d.walked:
        most = 0 if node.weak else ASSUMED if node.assumed else CERTAIN
        here = found.get(node, 0)
        for parent in node.parents:
            if parent in walked:
                level = min(most, CERTAIN if _bends_to(node, parent) else here)
                if level > found.get(parent, 0):
                    found[parent] = level
    return found


def _bends_to(node: Node, parent: Node) -> bool:
    if node.called:
        return True
    if not node.saved and node.op not in CURVED:
        return False
    free: list[Storage | None] = [storage for storage, _ in node.saved]
    live, at = set[int](), -1
    for operand in node.operands:
        place = -2
        if isinstance(operand, Tensor):
            place = next((i for i, s in enumerate(free) if s is operand.storage), -2)
        if place >= 0:
            free[place] = None
            live.add(place)
        if getattr(operand, "node", None) is parent:
            at = max(at, place)
    return bends(node.op, frozenset(range(len(node.saved))), frozenset(live), at)
