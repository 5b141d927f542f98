"""What each PyTorch operation does to the autograd graph, as data.

Every row was measured on PyTorch 2.13 (CPU); the tests repeat the measurement row by row. Imports no torch.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache


class Saved(enum.Enum):
    """Which tensors the backward node of an operation unpacks.

    A node that unpacks any raises when it is walked again after it was freed, and notices in-place changes of those
    tensors. "Operands" are the tensor arguments in the order of the signature. `unpacked` is the same as code.
    """

    NOTHING = "sizes and numbers only: a second backward does not raise"
    INPUT = "the first operand"
    RESULT = "the result"
    INPUT_RESULT = "the first operand and the result"
    OPERANDS = "every operand"
    OPERANDS_RESULT = "every operand and the result"
    CROSS = "each operand for which another one requires grad"
    QUOTIENT = "the second operand; the first too if the second requires grad"
    MODULO = "both operands if the second requires grad, else nothing"
    OTHER = "masks, indices and class labels, not the operands that could require grad"
    OPAQUE = "buffers of its own: a second backward raises, but no in-place change of operands or result is noticed"


class Shape(enum.Enum):
    """What is known of the shape of the first result."""

    SAME = "that of the first operand"
    BROADCAST = "the operands broadcast against each other"
    SCALAR = "0-dim"
    REDUCE = "0-dim when no dim is given (or None), else unknown"
    LOSS = "0-dim unless reduction='none' (or reduce=False), for inputs with a batch dimension"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Op:
    """One operation.

    `outputs`: 1; another number, for a tuple of that length; "pair", a (values, indices) tuple of which only the values
    have history; "reduce2", such a pair if `dim` is given, else one tensor; "indices", such a pair if
    `return_indices=True`, else one tensor; "each", one result for each operand, with the history of that operand alone
    (for a single operand `torch.atleast_1d` and its like return the tensor itself); "many", a tuple or list of a length
    that depends on the input.
    `view`: the result may share memory with the first operand, or be that very object.
    `differentiable`: False where the result never has history.
    `addends`: operands that are never saved, mostly because they are only added to the rest.
    `number`: what is saved when the last operand is a Python number, not a tensor, where that differs from `saved`.
    `dim_at`: where `dim` stands among the arguments of a REDUCE, the input being 0; a bool there means something else.
    `inplace`: writes to its first operand, which bumps its version, and returns that object.
    """

    saved: Saved
    shape: Shape = Shape.UNKNOWN
    outputs: int | str = 1
    view: bool = False
    differentiable: bool = True
    addends: tuple[int, ...] = ()
    number: Saved | None = None
    dim_at: int = 1
    inplace: bool = False


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What backward through one executed operation unpacks.

    `raises`: whether a second walk raises. In-place changes of `operands` (by position) and, if `result`, of the result
    are noticed.
    """

    raises: bool
    operands: frozenset[int] = frozenset()
    result: bool = False


def unpacked(
    op: Op,
    requires_grad: Sequence[bool],
    discrete: Sequence[bool] | None = None,
    *,
    indexed: bool = False,
    only_first: bool = False,
) -> Unpacked:
    """What backward through `op` unpacks, given which of its tensor operands require grad (at least one does).

    `discrete` marks the masks, indices and labels among them; without it they are those that do not require grad.
    `indexed`: `op.outputs` is "reduce2" and `dim` was given, so that the indices alone are saved.
    `only_first`: a Python number stands where the last operand could be a tensor (`x ** 2`, `x.lerp(y, 0.1)`); do not
    count it as an operand. A number that stands before a tensor (`2 ** x`) counts as an operand without grad.
    """
    count = len(requires_grad)
    if discrete is None:
        discrete = [not required for required in requires_grad]
    saved = op.number if only_first and op.number is not None else op.saved
    live = {i for i in range(count) if requires_grad[i] and i not in op.addends}
    raises = saved is not Saved.NOTHING
    operands: set[int] = set()
    if saved in (Saved.INPUT, Saved.INPUT_RESULT):
        operands = {0}
    elif saved in (Saved.OPERANDS, Saved.OPERANDS_RESULT):
        operands = set(range(count))
    elif saved is Saved.CROSS:
        raises = bool(live)
        operands = {i for i in range(count) if live - {i}}
    elif saved is Saved.QUOTIENT:
        operands = {0, 1} if 1 in live else {1}
    elif saved is Saved.MODULO:
        raises = 1 in live
        operands = {0, 1} if raises else set()
    elif saved is Saved.OTHER:
        raises = bool(live)
        operands = {i for i in range(count) if discrete[i]} if raises else set()
    if indexed and op.outputs == "reduce2":
        return Unpacked(raises)
    # An in-place operation that needs its old input saves a copy of it.
    hidden = {*op.addends, 0} if op.inplace else set(op.addends)
    noticed = frozenset(i for i in operands if i < count and i not in hidden)
    return Unpacked(raises, noticed, saved in (Saved.RESULT, Saved.INPUT_RESULT, Saved.OPERANDS_RESULT))


DEFAULT = Op(Saved.INPUT)
"""For names that are not in `OPS`: most differentiable functions save their input."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _rows(op: Op, names: str) -> dict[str, Op]:
    return dict.fromkeys(names.split(), op)


# Keyed by the bare name, valid for torch.NAME, Tensor.NAME and torch.nn.functional.NAME; with the prefix linalg., fft.
# or special. where that differs from the bare name. Ask `lookup`, which also knows the in-place forms.
# F.NAME(..., inplace=True) is NAME_, and so are the modules with inplace=True.
# Not told by the name alone: max and min of two tensors are maximum and minimum; dropout in eval mode saves nothing;
# pad with a mode other than constant, interpolate with mode "area" and repeat_interleave with a tensor do save;
# `index` is indexing by a tensor or a list of numbers, `__getitem__` by numbers, slices, None and Ellipsis.
OPS: dict[str, Op] = {
    # The result never has history.
    **_rows(
        Op(Saved.NOTHING, Shape.BROADCAST, differentiable=False),
        """
        bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor eq gcd ge greater greater_equal gt
        isclose lcm le less less_equal logical_and logical_or logical_xor lt ne not_equal
        """,
    ),
    **_rows(Op(Saved.NOTHING, Shape.REDUCE, differentiable=False), "all any argmax argmin count_nonzero hash_tensor"),
    **_rows(
        Op(Saved.NOTHING, Shape.SAME, differentiable=False),
        """
        argsort bitwise_not bool byte char empty_like full_like int isfinite isinf isnan isneginf isposinf isreal
        logical_not long ones_like rand_like randint_like randn_like short signbit special.airy_ai special.bessel_j0
        special.bessel_j1 special.bessel_y0 special.bessel_y1 special.chebyshev_polynomial_t
        special.chebyshev_polynomial_u special.chebyshev_polynomial_v special.chebyshev_polynomial_w
        special.hermite_polynomial_h special.hermite_polynomial_he special.laguerre_polynomial_l
        special.legendre_polynomial_p special.modified_bessel_i0 special.modified_bessel_i1 special.modified_bessel_k0
        special.modified_bessel_k1 special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1
        special.shifted_chebyshev_polynomial_t special.shifted_chebyshev_polynomial_u
        special.shifted_chebyshev_polynomial_v special.shifted_chebyshev_polynomial_w special.spherical_bessel_j0
        zeros_like
        """,
    ),
    **_rows(
        Op(Saved.NOTHING, differentiable=False),
        """
        argwhere bincount bucketize histc isin linalg.matrix_rank multinomial new new_empty new_empty_strided new_full
        new_ones new_tensor new_zeros nonzero nonzero_static one_hot searchsorted
        """,
    ),
    **_rows(Op(Saved.NOTHING, outputs=2, differentiable=False), "unravel_index"),
    **_rows(Op(Saved.NOTHING, Shape.SAME, view=True, differentiable=False), "data detach"),
    # Saves nothing; a second backward does not raise.
    **_rows(Op(Saved.NOTHING, Shape.BROADCAST), "add binomial floor_divide heaviside normal rsub sub subtract"),
    **_rows(Op(Saved.NOTHING, Shape.REDUCE), "mean sum"),
    **_rows(
        Op(Saved.NOTHING, Shape.SAME),
        """
        alias_copy as_strided_scatter bernoulli ceil channel_shuffle clone cumsum deg2rad diagonal_scatter fft.fftshift
        fft.ifftshift fill fix flip fliplr flipud floor frac neg negative poisson rad2deg roll round select_scatter sign
        slice_scatter to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr tril triu trunc
        """,
    ),
    **_rows(Op(Saved.NOTHING, Shape.SCALAR), "trace"),
    **_rows(
        Op(Saved.NOTHING),
        """
        affine_grid as_strided_copy block_diag cartesian_prod cat column_stack concat concatenate constant_pad_nd
        cumulative_trapezoid diag diag_embed diagflat diagonal_copy diff dstack expand_copy fft.fft2 fft.fftn fft.hfft
        fft.hfft2 fft.hfftn fft.ifft2 fft.ifftn fft.irfft fft.irfft2 fft.irfftn fold hstack interpolate linalg.ldl_solve
        narrow_copy pad permute_copy pixel_shuffle pixel_unshuffle repeat repeat_interleave rot90 row_stack select_copy
        slice_copy squeeze_copy stack sum_to_size t_copy tile transpose_copy trapezoid trapz unfold_copy unique
        unique_consecutive unsqueeze_copy upsample upsample_bilinear upsample_nearest view_as_real_copy view_copy vstack
        """,
    ),
    **_rows(Op(Saved.NOTHING, outputs=2), "geqrf histogram linalg.ldl_factor"),
    **_rows(Op(Saved.NOTHING, outputs=3), "linalg.ldl_factor_ex lu_unpack"),
    **_rows(Op(Saved.NOTHING, outputs="many"), "gradient split_copy split_with_sizes_copy unbind_copy"),
    **_rows(
        Op(Saved.NOTHING, Shape.SAME, view=True),
        """
        as_subclass bfloat16 cdouble cfloat chalf conj conj_physical contiguous cpu cuda double float half ipu mtia
        pin_memory positive resolve_conj resolve_neg to to_dense type type_as xpu
        """,
    ),
    **_rows(
        Op(Saved.NOTHING, view=True),
        """
        H T __getitem__ adjoint as_strided as_tensor asarray broadcast_to dequantize diagonal expand expand_as flatten
        imag mH mT moveaxis movedim narrow permute ravel real reshape reshape_as select squeeze swapaxes swapdims t
        transpose unflatten unfold unsqueeze view view_as view_as_complex view_as_real
        """,
    ),
    **_rows(
        Op(Saved.NOTHING, outputs="each", view=True),
        "atleast_1d atleast_2d atleast_3d broadcast_tensors meshgrid",
    ),
    **_rows(
        Op(Saved.NOTHING, outputs="many", view=True),
        """
        chunk dsplit hsplit split split_with_sizes tensor_split unbind unsafe_chunk unsafe_split unsafe_split_with_sizes
        vsplit
        """,
    ),
    # Saves its input.
    **_rows(Op(Saved.INPUT, Shape.REDUCE), "nanmean nansum var"),
    **_rows(
        Op(Saved.INPUT, Shape.SAME),
        """
        abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh celu cos cosh
        digamma elu erf erfc erfinv gelu hardshrink hardsigmoid hardswish hardtanh i0 instance_norm leaky_relu lgamma
        local_response_norm log log10 log1p log2 logit logsigmoid matrix_exp matrix_power mish mvlgamma nan_to_num
        normalize polygamma relu6 renorm rrelu selu silu sin sinc sinh softplus softshrink softsign special.entr
        special.gammaln special.multigammaln special.psi square threshold
        """,
    ),
    **_rows(
        Op(Saved.INPUT),
        """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d avg_pool1d avg_pool2d avg_pool3d combinations
        fft.fft fft.ifft fft.ihfft fft.ihfft2 fft.ihfftn fft.rfft fft.rfft2 fft.rfftn glu linalg.vander logdet lp_pool1d
        lp_pool2d lp_pool3d take_along_dim
        """,
    ),
    **_rows(Op(Saved.INPUT, Shape.REDUCE, outputs=2), "var_mean"),
    **_rows(Op(Saved.INPUT, outputs=3), "svd_lowrank"),
    **_rows(
        Op(Saved.INPUT, outputs="indices"),
        """
        adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d
        max_pool1d max_pool2d max_pool3d
        """,
    ),
    **_rows(Op(Saved.INPUT, Shape.SAME, outputs="pair"), "cummax cummin"),
    **_rows(
        Op(Saved.INPUT, outputs="pair"),
        """
        adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices
        fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices max_pool1d_with_indices
        max_pool2d_with_indices max_pool3d_with_indices
        """,
    ),
    # Saves its result.
    **_rows(Op(Saved.RESULT, Shape.BROADCAST), "float_power polar"),
    **_rows(
        Op(Saved.RESULT, Shape.SAME),
        """
        cholesky exp exp2 expm1 gumbel_softmax inverse linalg.inv log_softmax reciprocal relu rsqrt sigmoid softmax
        softmin special.expit special.ndtri sqrt tan tanh
        """,
    ),
    **_rows(Op(Saved.RESULT), "linalg.eigvals linalg.eigvalsh linalg.svdvals linalg.tensorinv pairwise_distance"),
    **_rows(Op(Saved.RESULT, outputs=2), "linalg.eig linalg.eigh qr"),
    **_rows(Op(Saved.RESULT, outputs=3), "linalg.lu linalg.lu_factor_ex svd"),
    **_rows(Op(Saved.RESULT, Shape.SAME, outputs="pair"), "linalg.cholesky_ex linalg.inv_ex"),
    **_rows(Op(Saved.RESULT, outputs="pair"), "linalg.lu_factor lu"),
    # Saves its input and its result.
    **_rows(Op(Saved.INPUT_RESULT, Shape.REDUCE), "amax amin prod std"),
    **_rows(Op(Saved.INPUT_RESULT, Shape.REDUCE, dim_at=2), "linalg.vector_norm norm"),
    **_rows(
        Op(Saved.INPUT_RESULT, Shape.SAME),
        "cumprod logcumsumexp sgn special.erfcx special.i0e special.i1 special.i1e special.log_ndtr",
    ),
    **_rows(
        Op(Saved.INPUT_RESULT),
        """
        cholesky_inverse det frobenius_norm linalg.matrix_norm linalg.pinv linalg.solve linalg.solve_triangular
        linalg.tensorsolve logsumexp norm_except_dim pdist pinverse
        """,
    ),
    **_rows(Op(Saved.INPUT_RESULT, Shape.REDUCE, outputs=2), "aminmax std_mean"),
    **_rows(Op(Saved.INPUT_RESULT, outputs=2), "slogdet"),
    **_rows(Op(Saved.INPUT_RESULT, outputs="pair"), "linalg.solve_ex"),
    **_rows(Op(Saved.INPUT_RESULT, Shape.REDUCE, outputs="reduce2"), "max median min nanmedian"),
    # Saves every tensor it is given.
    **_rows(
        Op(Saved.OPERANDS, Shape.BROADCAST),
        """
        arctan2 atan2 clamp clamp_max clamp_min clip complex fmax fmin igamma igammac logaddexp logaddexp2 maximum
        minimum nextafter special.gammainc special.gammaincc special.xlog1py special.zeta xlogy
        """,
    ),
    **_rows(Op(Saved.OPERANDS, Shape.BROADCAST, addends=(0,)), "addcdiv"),
    **_rows(
        Op(Saved.OPERANDS, Shape.LOSS),
        """
        binary_cross_entropy binary_cross_entropy_with_logits ctc_loss huber_loss mse_loss multi_margin_loss
        multilabel_margin_loss multilabel_soft_margin_loss nll_loss smooth_l1_loss soft_margin_loss
        """,
    ),
    **_rows(Op(Saved.OPERANDS, Shape.LOSS, addends=(2,)), "cosine_embedding_loss"),
    **_rows(Op(Saved.OPERANDS, Shape.SAME), "layer_norm prelu rms_norm"),
    **_rows(Op(Saved.OPERANDS, Shape.SAME, addends=(0,)), "index_copy put"),
    **_rows(Op(Saved.OPERANDS, Shape.SAME, addends=(2,)), "batch_norm group_norm"),
    **_rows(Op(Saved.OPERANDS), "cosine_similarity gather grid_sample grid_sampler masked_select stft take"),
    **_rows(Op(Saved.OPERANDS, addends=(0,)), "istft"),
    **_rows(
        Op(Saved.OPERANDS, addends=(2,)),
        "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d",
    ),
    **_rows(Op(Saved.OPERANDS, outputs=2), "multi_head_attention_forward"),
    # Saves every tensor it is given, and its result.
    **_rows(Op(Saved.OPERANDS_RESULT, Shape.BROADCAST), "copysign hypot ldexp"),
    **_rows(Op(Saved.OPERANDS_RESULT, Shape.BROADCAST, number=Saved.INPUT), "pow"),
    **_rows(Op(Saved.OPERANDS_RESULT, Shape.SAME), "index_reduce scatter_reduce"),
    **_rows(Op(Saved.OPERANDS_RESULT, Shape.SCALAR), "dist"),
    **_rows(
        Op(Saved.OPERANDS_RESULT),
        """
        cdist cholesky_solve linalg.householder_product orgqr ormqr rnn_relu_cell rnn_tanh_cell
        scaled_dot_product_attention segment_reduce
        """,
    ),
    **_rows(Op(Saved.OPERANDS_RESULT, addends=(0,)), "lu_solve"),
    **_rows(Op(Saved.OPERANDS_RESULT, addends=(2,)), "linalg.lu_solve"),
    **_rows(Op(Saved.OPERANDS_RESULT, outputs=2), "triangular_solve"),
    **_rows(Op(Saved.OPERANDS_RESULT, outputs=4), "linalg.lstsq"),
    # Products: each factor is saved for the gradient of the others.
    **_rows(Op(Saved.CROSS, Shape.BROADCAST), "cross mul multiply"),
    **_rows(Op(Saved.CROSS, Shape.BROADCAST, number=Saved.NOTHING), "lerp"),
    **_rows(Op(Saved.CROSS, Shape.BROADCAST, addends=(0,)), "addcmul"),
    **_rows(Op(Saved.CROSS, Shape.LOSS), "linear_cross_entropy poisson_nll_loss"),
    **_rows(Op(Saved.CROSS, Shape.SAME, addends=(0,)), "index_add"),
    **_rows(Op(Saved.CROSS, Shape.SCALAR), "dot vdot"),
    **_rows(
        Op(Saved.CROSS),
        "bmm chain_matmul einsum ger gru_cell inner linalg.multi_dot linalg.vecdot matmul mm mv outer tensordot",
    ),
    **_rows(Op(Saved.CROSS, addends=(0,)), "addbmm addmm addmv addr baddbmm"),
    **_rows(Op(Saved.CROSS, addends=(2,)), "linear"),
    **_rows(Op(Saved.CROSS, addends=(3,)), "bilinear"),
    **_rows(Op(Saved.CROSS, outputs=2), "lstm_cell"),
    # Quotients.
    **_rows(Op(Saved.QUOTIENT, Shape.BROADCAST), "div divide true_divide"),
    **_rows(Op(Saved.QUOTIENT, Shape.LOSS), "kl_div"),
    # Remainders.
    **_rows(Op(Saved.MODULO, Shape.BROADCAST), "fmod remainder"),
    # Saves its mask, index or labels.
    **_rows(Op(Saved.OTHER, Shape.BROADCAST), "masked_fill where"),
    **_rows(Op(Saved.OTHER, Shape.LOSS), "cross_entropy"),
    **_rows(Op(Saved.OTHER, Shape.SAME), "index_fill index_put masked_scatter scatter"),
    **_rows(Op(Saved.OTHER, Shape.SAME, addends=(0,)), "scatter_add"),
    **_rows(Op(Saved.OTHER), "embedding embedding_bag index index_select max_unpool1d max_unpool2d max_unpool3d"),
    # Saves what no caller can change.
    **_rows(
        Op(Saved.OPAQUE, Shape.LOSS),
        """
        gaussian_nll_loss hinge_embedding_loss l1_loss margin_ranking_loss triplet_margin_loss
        triplet_margin_with_distance_loss
        """,
    ),
    **_rows(Op(Saved.OPAQUE, Shape.REDUCE), "nuclear_norm"),
    **_rows(
        Op(Saved.OPAQUE, Shape.SAME),
        """
        __rtruediv__ alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout feature_dropout msort
        special.ndtr tanhshrink
        """,
    ),
    **_rows(Op(Saved.OPAQUE), "corrcoef cov kron linalg.cond nanquantile quantile"),
    **_rows(Op(Saved.OPAQUE, outputs=2), "lobpcg"),
    **_rows(Op(Saved.OPAQUE, outputs=3), "pca_lowrank"),
    **_rows(Op(Saved.OPAQUE, Shape.SAME, outputs="pair"), "frexp native_dropout sort"),
    **_rows(Op(Saved.OPAQUE, outputs="pair"), "kthvalue mode topk"),
    # In-place forms that do not follow from their base, and those without one.
    **_rows(Op(Saved.RESULT, Shape.SAME, view=True, inplace=True), "celu_ elu_ leaky_relu_ rrelu_ selu_"),
    **_rows(Op(Saved.OPERANDS_RESULT, Shape.SAME, view=True, inplace=True), "float_power_"),
    **_rows(
        Op(Saved.NOTHING, Shape.SAME, view=True, inplace=True),
        "cauchy_ copy_ embedding_renorm_ exponential_ geometric_ log_normal_ random_ uniform_ zero_",
    ),
    **_rows(Op(Saved.OPAQUE, Shape.SAME, view=True, inplace=True), "__setitem__ fill_diagonal_"),
}

INPLACE_AT: dict[str, int] = {
    **dict.fromkeys(("hardsigmoid", "hardswish", "mish", "relu", "relu6", "selu", "silu"), 1),
    **dict.fromkeys(("celu", "elu", "leaky_relu"), 2),
    **dict.fromkeys(("alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"), 3),
    **dict.fromkeys(("hardtanh", "threshold"), 3),
    "rrelu": 4,
}
"""Where `inplace` stands among the arguments of `torch.nn.functional.NAME`, the input being 0."""

MODULE_INPLACE_AT: dict[str, int] = {
    **dict.fromkeys(("Hardsigmoid", "Hardswish", "Mish", "ReLU", "ReLU6", "SELU", "SiLU"), 0),
    **dict.fromkeys(("CELU", "ELU", "LeakyReLU"), 1),
    **dict.fromkeys(("AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"), 1),
    **dict.fromkeys(("Hardtanh", "RReLU", "Threshold"), 2),
}
"""Where `inplace` stands among the arguments of `torch.nn.NAME`."""

VIEWS: frozenset[str] = _names(
    """
    H T __getitem__ adjoint as_strided broadcast_to chunk diagonal expand expand_as mH mT moveaxis movedim narrow
    permute select split squeeze swapaxes swapdims t tensor_split transpose unbind unfold unsqueeze view view_as
    """
)
"""Operations whose result always shares memory with the first operand; others of `Op.view` may make a copy."""

NO_DERIVATIVE: frozenset[str] = _names(
    """
    acosh_ arccosh_ arcsinh_ arctanh_ asinh_ atanh_ binomial dequantize embedding_renorm_ floor_divide geqrf heaviside
    histogram linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve unique unique_consecutive
    """
)
"""Operations whose result has history although backward through it raises "derivative ... is not implemented"."""

INPLACE_EXCEPTIONS: frozenset[str] = _names(
    "as_strided_ detach_ requires_grad_ share_memory_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_"
)
"""Names with an underscore that leave the data alone and return their object; of these only `detach_` drops history."""


@cache
def lookup(name: str) -> Op:
    """The facts about `name` ("mul", "mul_", "linalg.norm"); the `DEFAULT` for a name that is not known.

    An in-place form follows from its base. It always keeps history (with a gradient of zero where the base has none).
    """
    if name in OPS:
        return OPS[name]
    if "." in name:
        return lookup(name.rpartition(".")[2])
    if name == "detach_":
        return OPS["detach"]
    if name in INPLACE_EXCEPTIONS:
        return Op(Saved.NOTHING, view=True)
    if name.endswith("_") and not name.endswith("__"):
        base = lookup(name.rstrip("_"))
        return replace(base, shape=Shape.SAME, outputs=1, view=True, differentiable=True, inplace=True)
    return DEFAULT


OPERATORS: dict[str, str] = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "Div": "div",
    "FloorDiv": "floor_divide",
    "Mod": "remainder",
    "Pow": "pow",
    "MatMult": "matmul",
    "LShift": "bitwise_left_shift",
    "RShift": "bitwise_right_shift",
    "BitAnd": "bitwise_and",
    "BitOr": "bitwise_or",
    "BitXor": "bitwise_xor",
    "USub": "neg",
    "UAdd": "positive",
    "Invert": "bitwise_not",
    "Eq": "eq",
    "NotEq": "ne",
    "Lt": "lt",
    "LtE": "le",
    "Gt": "gt",
    "GtE": "ge",
}
"""The operation behind an operator, by the name of its class in `ast`; `not`, `is` and `in` give Python values."""

REFLECTED: dict[str, str] = {"Div": "__rtruediv__"}
"""The operation when a Python number stands left of the operator, where it is not the same with operands swapped.

`2 / x` is `x.reciprocal() * 2`.
"""

FACTORIES: frozenset[str] = _names(
    """
    BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor ShortTensor
    Tensor arange as_tensor asarray bartlett_window blackman_window empty empty_like empty_permuted empty_strided eye
    fft.fftfreq fft.rfftfreq from_file from_numpy frombuffer full full_like hamming_window hann_window kaiser_window
    linspace logspace new_empty new_empty_strided new_full new_ones new_tensor new_zeros normal ones ones_like rand
    rand_like randint randint_like randn randn_like randperm range scalar_tensor sparse_coo_tensor tensor tril_indices
    triu_indices zeros zeros_like
    """
)
"""Make new tensors without history; those that are in `OPS` too hand on that of a tensor they are given."""

TAKES_REQUIRES_GRAD: frozenset[str] = FACTORIES - _names(
    """
    BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor ShortTensor
    Tensor as_tensor from_numpy tril_indices triu_indices
    """
)
"""The factories that understand `requires_grad=True`."""

RANDOM: frozenset[str] = _names(
    """
    AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout FractionalMaxPool2d FractionalMaxPool3d RReLU
    Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer alpha_dropout
    alpha_dropout_ bernoulli bernoulli_ binomial cauchy_ dropout dropout1d dropout2d dropout3d dropout_ exponential_
    feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ fractional_max_pool2d
    fractional_max_pool2d_with_indices fractional_max_pool3d fractional_max_pool3d_with_indices geometric_
    gumbel_softmax lobpcg log_normal_ multinomial native_dropout normal normal_ pca_lowrank poisson rand rand_like
    randint randint_like randn randn_like random_ randperm rrelu rrelu_ svd_lowrank uniform_
    """
)
"""Functions, Tensor methods and modules that draw random numbers when called with their defaults in training mode."""

DETACHING: frozenset[str] = frozenset({"data", "detach", "detach_"})
"""Tensor methods and attributes that give the same data without history; casts and moves keep it."""

NUMBER_METHODS: frozenset[str] = _names(
    """
    allclose const_data_ptr data_ptr dense_dim device dim dim_order dtype element_size equal get_device is_coalesced
    is_complex is_conj is_contiguous is_cpu is_cuda is_distributed is_floating_point is_inference is_ipu is_leaf is_maia
    is_meta is_mkldnn is_mps is_mtia is_neg is_nested is_nonzero is_pinned is_quantized is_same_size is_set_to is_shared
    is_signed is_sparse is_sparse_csr is_vulkan is_xla is_xpu item itemsize layout name nbytes ndim ndimension nelement
    numel numpy output_nr q_per_channel_axis q_scale q_zero_point qscheme requires_grad retains_grad shape size
    sparse_dim storage storage_offset storage_type stride tolist untyped_storage volatile
    """
)
"""Tensor methods and attributes (and torch functions of the same name) that give no tensor: numbers, sizes, flags.

`type()` without argument is a string too. `numpy` and `float` of a tensor with history raise or warn; `item` does not.
"""

EFFECTS: frozenset[str] = _names(
    """
    apply_ backward map2_ map_ module_load record_stream register_hook register_post_accumulate_grad_hook reinforce
    retain_grad
    """
)
"""Tensor methods that are called for what they do; none of them makes a tensor with new history."""

ACCEPTS_NUMBERS: frozenset[str] = _names(
    """
    BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor ShortTensor
    Tensor add arange as_tensor asarray bartlett_window bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift
    bitwise_xor blackman_window bucketize div divide empty eye float_power floor_divide hamming_window hann_window
    is_storage is_tensor isin kaiser_window linspace logspace mul multiply normal ones pow rand randint randn randperm
    range remainder result_type scalar_tensor sparse_coo_tensor special.xlog1py special.xlogy special.zeta sub subtract
    sym_float sym_int sym_max sym_min sym_not sym_sqrt sym_sum tensor true_divide typename xlogy zeros
    """
)
"""torch functions that take a Python number (some only an int) as their first argument; all others raise."""

TENSOR_ATTRIBUTES: frozenset[str] = _names(
    """
    H T abs abs_ absolute absolute_ acos acos_ acosh acosh_ add add_ addbmm addbmm_ addcdiv addcdiv_ addcmul addcmul_
    addmm addmm_ addmv addmv_ addr addr_ adjoint all allclose amax amin aminmax angle any apply_ arccos arccos_ arccosh
    arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ argmax argmin argsort
    argwhere as_strided as_strided_ as_strided_scatter as_subclass asin asin_ asinh asinh_ atan atan2 atan2_ atan_ atanh
    atanh_ backward baddbmm baddbmm_ bernoulli bernoulli_ bfloat16 bincount bitwise_and bitwise_and_ bitwise_left_shift
    bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_ bitwise_right_shift bitwise_right_shift_
    bitwise_xor bitwise_xor_ bmm bool broadcast_to byte cauchy_ ccol_indices cdouble ceil ceil_ cfloat chalf char
    cholesky cholesky_inverse cholesky_solve chunk clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_
    clone coalesce col_indices conj conj_physical conj_physical_ const_data_ptr contiguous copy_ copysign copysign_
    corrcoef cos cos_ cosh cosh_ count_nonzero cov cpu cross crow_indices cuda cummax cummin cumprod cumprod_ cumsum
    cumsum_ data data_ptr deg2rad deg2rad_ dense_dim dequantize det detach detach_ device diag diag_embed diagflat
    diagonal diagonal_scatter diff digamma digamma_ dim dim_order dist div div_ divide divide_ dot double dsplit dtype
    eig element_size eq eq_ equal erf erf_ erfc erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expand expand_as expm1 expm1_
    exponential_ fill_ fill_diagonal_ fix fix_ flatten flip fliplr flipud float float_power float_power_ floor floor_
    floor_divide floor_divide_ fmax fmin fmod fmod_ frac frac_ frexp gather gcd gcd_ ge ge_ geometric_ geqrf ger
    get_device grad grad_dtype grad_fn greater greater_ greater_equal greater_equal_ gt gt_ half hardshrink hash_tensor
    heaviside heaviside_ histc histogram hsplit hypot hypot_ i0 i0_ igamma igamma_ igammac igammac_ imag index index_add
    index_add_ index_copy index_copy_ index_fill index_fill_ index_put index_put_ index_reduce index_reduce_
    index_select indices inner int int_repr inverse ipu is_coalesced is_complex is_conj is_contiguous is_cpu is_cuda
    is_distributed is_floating_point is_inference is_ipu is_leaf is_maia is_meta is_mkldnn is_mps is_mtia is_neg
    is_nested is_nonzero is_pinned is_quantized is_same_size is_set_to is_shared is_signed is_sparse is_sparse_csr
    is_vulkan is_xla is_xpu isclose isfinite isinf isnan isneginf isposinf isreal istft item itemsize kron kthvalue
    layout lcm lcm_ ldexp ldexp_ le le_ lerp lerp_ less less_ less_equal less_equal_ lgamma lgamma_ log log10 log10_
    log1p log1p_ log2 log2_ log_ log_normal_ log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and
    logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_ logit logit_ logsumexp long
    lstsq lt lt_ lu lu_solve mH mT map2_ map_ masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select
    matmul matrix_exp matrix_power max maximum mean median min minimum mm mode module_load moveaxis movedim msort mtia
    mul mul_ multinomial multiply multiply_ mv mvlgamma mvlgamma_ name nan_to_num nan_to_num_ nanmean nanmedian
    nanquantile nansum narrow narrow_copy nbytes ndim ndimension ne ne_ neg neg_ negative negative_ nelement new
    new_empty new_empty_strided new_full new_ones new_tensor new_zeros nextafter nextafter_ nonzero nonzero_static norm
    normal_ not_equal not_equal_ numel numpy orgqr ormqr outer output_nr permute pin_memory pinverse polygamma
    polygamma_ positive pow pow_ prelu prod put put_ q_per_channel_axis q_per_channel_scales q_per_channel_zero_points
    q_scale q_zero_point qr qscheme quantile rad2deg rad2deg_ random_ ravel real reciprocal reciprocal_ record_stream
    register_hook register_post_accumulate_grad_hook reinforce relu relu_ remainder remainder_ renorm renorm_ repeat
    repeat_interleave requires_grad requires_grad_ reshape reshape_as resize resize_ resize_as resize_as_
    resize_as_sparse_ resolve_conj resolve_neg retain_grad retains_grad roll rot90 round round_ row_indices rsqrt rsqrt_
    scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_ select select_scatter set_ sgn sgn_ shape
    share_memory_ short sigmoid sigmoid_ sign sign_ signbit sin sin_ sinc sinc_ sinh sinh_ size slice_inverse
    slice_scatter slogdet smm softmax solve sort sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ split
    split_with_sizes sqrt sqrt_ square square_ squeeze squeeze_ sspaddmm std stft storage storage_offset storage_type
    stride sub sub_ subtract subtract_ sum sum_to_size svd swapaxes swapaxes_ swapdims swapdims_ symeig t t_ take
    take_along_dim tan tan_ tanh tanh_ tensor_split tile to to_dense to_mkldnn to_padded_tensor to_sparse to_sparse_bsc
    to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr tolist topk trace transpose transpose_ triangular_solve tril
    tril_ triu triu_ true_divide true_divide_ trunc trunc_ type type_as unbind unflatten unfold uniform_ unique
    unique_consecutive unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze unsqueeze_ untyped_storage values var
    vdot view view_as volatile vsplit where xlogy xlogy_ xpu zero_
    """
)
"""Every public attribute of `torch.Tensor` (2.13)."""


@dataclass(frozen=True, slots=True)
class Module:
    """One class of `torch.nn`, built with its defaults and in training mode.

    `params`: it has trainable parameters. `result`: "tensor"; "loss", a tensor too; "rnn", (output, h); "lstm",
    (output, (h, c)); "cell", h; "lstmcell", (h, c); "attention", (output, weights); "output_loss", a named tuple
    (output, loss); "container", whatever its children or its subclass return.
    `saved` speaks of the operands (inputs..., parameters), all parameters together being the last one.
    """

    params: bool
    result: str
    saved: Saved
    shape: Shape = Shape.UNKNOWN
    random: bool = False

    @property
    def op(self) -> Op:
        """The same as an `Op`, for `unpacked`."""
        return Op(self.saved, self.shape)


def _modules(module: Module, names: str) -> dict[str, Module]:
    return dict.fromkeys(names.split(), module)


MODULES: dict[str, Module] = {
    # Without parameters.
    **_modules(
        Module(False, "container", Saved.NOTHING),
        "Container DataParallel Module ModuleDict ModuleList ParameterDict ParameterList Sequential",
    ),
    **_modules(Module(False, "tensor", Saved.NOTHING, Shape.SAME), "ChannelShuffle Identity"),
    **_modules(
        Module(False, "tensor", Saved.NOTHING),
        """
        ConstantPad1d ConstantPad2d ConstantPad3d Flatten Fold PixelShuffle PixelUnshuffle Unflatten Unfold Upsample
        UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d
        """,
    ),
    **_modules(
        Module(False, "tensor", Saved.INPUT, Shape.SAME),
        """
        CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh InstanceNorm1d InstanceNorm2d InstanceNorm3d LeakyReLU
        LocalResponseNorm LogSigmoid Mish ReLU6 SELU SiLU Softplus Softshrink Softsign Threshold
        """,
    ),
    **_modules(Module(False, "tensor", Saved.INPUT, Shape.SAME, random=True), "RReLU"),
    **_modules(
        Module(False, "tensor", Saved.INPUT),
        """
        AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d
        AvgPool1d AvgPool2d AvgPool3d GLU LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d ReflectionPad1d
        ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d
        """,
    ),
    **_modules(Module(False, "tensor", Saved.INPUT, random=True), "FractionalMaxPool2d FractionalMaxPool3d"),
    **_modules(
        Module(False, "tensor", Saved.RESULT, Shape.SAME),
        "LogSoftmax ReLU Sigmoid Softmax Softmax2d Softmin Tanh",
    ),
    **_modules(Module(False, "tensor", Saved.RESULT), "PairwiseDistance"),
    **_modules(Module(False, "tensor", Saved.INPUT_RESULT, Shape.SAME), "CrossMapLRN2d"),
    **_modules(Module(False, "tensor", Saved.OPERANDS), "CosineSimilarity"),
    **_modules(Module(False, "tensor", Saved.OTHER), "MaxUnpool1d MaxUnpool2d MaxUnpool3d"),
    **_modules(Module(False, "tensor", Saved.OPAQUE, Shape.SAME), "Tanhshrink"),
    **_modules(Module(False, "tensor", Saved.OPAQUE), "CircularPad1d CircularPad2d CircularPad3d"),
    **_modules(
        Module(False, "tensor", Saved.OPAQUE, Shape.SAME, random=True),
        "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout",
    ),
    # Losses.
    **_modules(
        Module(False, "loss", Saved.OPERANDS, Shape.LOSS),
        """
        BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss HuberLoss MSELoss MultiLabelMarginLoss
        MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d SmoothL1Loss SoftMarginLoss
        """,
    ),
    **_modules(Module(False, "loss", Saved.CROSS, Shape.LOSS), "PoissonNLLLoss"),
    **_modules(Module(True, "loss", Saved.CROSS, Shape.LOSS), "LinearCrossEntropyLoss"),
    **_modules(Module(False, "loss", Saved.QUOTIENT, Shape.LOSS), "KLDivLoss"),
    **_modules(Module(False, "loss", Saved.OTHER, Shape.LOSS), "CrossEntropyLoss"),
    **_modules(
        Module(False, "loss", Saved.OPAQUE, Shape.LOSS),
        """
        GaussianNLLLoss HingeEmbeddingLoss L1Loss MarginRankingLoss TripletMarginLoss TripletMarginWithDistanceLoss
        """,
    ),
    **_modules(Module(True, "output_loss", Saved.OPERANDS), "AdaptiveLogSoftmaxWithLoss"),
    # With parameters.
    **_modules(Module(True, "tensor", Saved.CROSS), "Bilinear LazyLinear Linear"),
    **_modules(
        Module(True, "tensor", Saved.OPERANDS),
        """
        Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d LazyConv3d
        LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d
        """,
    ),
    **_modules(
        Module(True, "tensor", Saved.OPERANDS, Shape.SAME),
        """
        BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm LayerNorm LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d PReLU
        RMSNorm SyncBatchNorm
        """,
    ),
    **_modules(
        Module(True, "tensor", Saved.INPUT, Shape.SAME),
        "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d",
    ),
    **_modules(Module(True, "tensor", Saved.OTHER), "Embedding EmbeddingBag"),
    **_modules(Module(True, "rnn", Saved.OPERANDS), "GRU RNN RNNBase"),
    **_modules(Module(True, "lstm", Saved.OPERANDS_RESULT), "LSTM"),
    **_modules(Module(True, "cell", Saved.CROSS), "GRUCell RNNCell RNNCellBase"),
    **_modules(Module(True, "lstmcell", Saved.CROSS), "LSTMCell"),
    **_modules(Module(True, "attention", Saved.OPERANDS), "MultiheadAttention"),
    **_modules(
        Module(True, "tensor", Saved.OPERANDS, Shape.SAME, random=True),
        "TransformerEncoder TransformerEncoderLayer",
    ),
    **_modules(
        Module(True, "tensor", Saved.OPERANDS, random=True),
        "Transformer TransformerDecoder TransformerDecoderLayer",
    ),
}
