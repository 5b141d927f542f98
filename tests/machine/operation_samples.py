"""The arguments with which each operation of PyTorch is called to measure it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class Recipe:
    """How to make a tensor operand afresh."""

    make: Callable[[], Tensor]


@dataclass(frozen=True)
class Sample:
    """The arguments of one call, with recipes where tensors go."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def rand(*shape: int, low: float = 0.5, high: float = 0.9, dtype: torch.dtype = torch.float32) -> Recipe:
    """Numbers between 0.5 and 0.9, where nearly every function is defined and smooth."""
    return Recipe(lambda: (torch.rand(*shape) * (high - low) + low).to(dtype))


def given(values: object, dtype: torch.dtype | None = None) -> Recipe:
    return Recipe(lambda: torch.tensor(values, dtype=dtype))


def positive_definite() -> Tensor:
    a = torch.rand(3, 3)
    return a @ a.T + 3 * torch.eye(3)


M, V = rand(3, 3), rand(3)
BATCH, SIGNAL, IMAGE, VOLUME = rand(2, 3, 3), rand(2, 3, 8), rand(2, 3, 6, 6), rand(1, 2, 6, 6, 6)
HEADS = rand(1, 2, 3, 8)
SPD = Recipe(positive_definite)
TRIANGLE = Recipe(lambda: torch.tril(torch.rand(3, 3)) + 2 * torch.eye(3))
COMPLEX = Recipe(lambda: torch.complex(torch.rand(3, 3), torch.rand(3, 3)))
INTEGERS = given([[4, 2, 6], [3, 1, 5], [7, 8, 9]])
MASK = given([[True, False, True]] * 3)
INDEX = given([0, 2, 1])
INDICES = given([[0, 1, 2], [2, 1, 0], [1, 1, 1]])
SIGNS = given([[1, -1, 1]] * 3)
PIVOTS = given([1, 2, 3], torch.int32)
LU = Recipe(lambda: torch.linalg.lu_factor(torch.rand(3, 3) + torch.eye(3))[0])
WINDOW = Recipe(lambda: torch.ones(4))
LOG_PROBABILITIES = Recipe(lambda: torch.randn(5, 1, 3).log_softmax(2))
CTC = (LOG_PROBABILITIES, given([[1, 2]]), given([5]), given([2]))

SAMPLES: dict[str, Sample] = {}


def put(names: str, *args: Any, **kwargs: Any) -> None:
    SAMPLES.update(dict.fromkeys(names.split(), Sample(args, kwargs)))


put(
    """
    add sub subtract mul multiply div divide true_divide rsub atan2 arctan2 hypot maximum minimum fmax fmin fmod
    remainder floor_divide copysign nextafter xlogy logaddexp logaddexp2 igamma igammac heaviside float_power pow eq ne
    lt le gt ge less less_equal greater greater_equal not_equal isclose dist special.zeta special.xlog1py special.xlogy
    special.gammainc special.gammaincc ldexp complex polar logical_and logical_or logical_xor isin mm matmul kron inner
    linalg.matmul cross linalg.cross cdist normal copy_ view_as reshape_as type_as expand_as mse_loss l1_loss
    smooth_l1_loss huber_loss poisson_nll_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div
    multilabel_soft_margin_loss cosine_similarity pairwise_distance block_diag broadcast_tensors cholesky_solve
    """,
    M,
    M,
)
put("bitwise_and bitwise_or bitwise_xor gcd lcm bitwise_left_shift bitwise_right_shift", INTEGERS, INTEGERS)
put("bitwise_not", INTEGERS)
put("bincount one_hot", INDEX)
put("acosh arccosh", rand(3, 3, low=1.5, high=2.5))
put("dot vdot outer ger linalg.vecdot cartesian_prod meshgrid bucketize searchsorted", V, V)
put("combinations linalg.vander trapz trapezoid cumulative_trapezoid gradient fft.ihfft", V)
put("bmm", BATCH, BATCH)
put("mv", M, V)
put("addmm chain_matmul addcmul addcdiv lerp gaussian_nll_loss", M, M, M)
put("triplet_margin_loss triplet_margin_with_distance_loss", M, M, M)
put("linalg.multi_dot", [M, M, M])
put("addmv", V, M, V)
put("addr", M, V, V)
put("addbmm", M, BATCH, BATCH)
put("baddbmm", BATCH, BATCH, BATCH)
put("einsum", "ij,jk->ik", M, M)
put("tensordot", M, M, 1)
put("linear", M, M, V)
put("bilinear", M, M, rand(3, 3, 3), V)
put("cat concat concatenate stack hstack vstack dstack column_stack row_stack", [M, M])
put("split chunk unsafe_chunk unsafe_split tensor_split hsplit vsplit", M, 3)
put("dsplit", rand(2, 2, 3), 3)
put("split_with_sizes unsafe_split_with_sizes split_with_sizes_copy", M, [1, 2])
put("split_copy", M, 2)
put("view reshape view_copy", M, (9,))
put("expand broadcast_to expand_copy", V, (2, 3))
put("unflatten", M, 1, (3, 1))
put("repeat tile", M, (2, 2))
put("permute permute_copy", M, (1, 0))
put("transpose swapaxes swapdims transpose_copy movedim moveaxis", M, 0, 1)
put("unsqueeze unsqueeze_copy", M, 0)
put("select select_copy", M, 0, 1)
put("narrow narrow_copy", M, 0, 0, 2)
put("unfold unfold_copy", M, 0, 2, 1)
put("squeeze squeeze_copy", rand(1, 3))
put("as_strided as_strided_copy", M, (2, 2), (3, 1))
put("as_strided_scatter", M, rand(2, 2), (2, 2), (3, 1))
put("diagonal_scatter", M, V)
put("select_scatter", M, V, 0, 1)
put("slice_scatter", M, rand(2, 3), 0, 0, 2)
put("sum_to_size", M, (1, 3))
put("index_select", M, 0, INDEX)
put("index", M, INDEX)
put("__getitem__", M, slice(0, 2))
put("__setitem__", M, 0, V)
put("gather", M, 1, INDICES)
put("take_along_dim", M, INDICES, 1)
put("take", M, INDEX)
put("put", M, INDEX, V)
put("masked_select", M, MASK)
put("masked_fill", M, MASK, 0.0)
put("masked_scatter", M, MASK, M)
put("torch.where", MASK, M, M)
put("Tensor.where", M, MASK, M)
put("index_add index_copy", M, 0, INDEX, M)
put("index_fill", M, 0, INDEX, 1.0)
put("index_reduce", M, 0, INDEX, M, "prod")
put("index_put", M, (INDEX,), M)
put("scatter scatter_add", M, 1, INDICES, M)
put("scatter_reduce", M, 1, INDICES, M, "sum")
put("cumsum cumprod cummax cummin logcumsumexp logsumexp special.logsumexp", M, 1)
put("softmax log_softmax special.softmax special.log_softmax softmin", M, 1)
put("glu", rand(3, 4))
put("flip", M, (0,))
put("roll", M, 1, 0)
put("topk kthvalue multinomial repeat_interleave matrix_power linalg.matrix_power", M, 2)
put("quantile nanquantile", V, 0.5)
put("frobenius_norm", M, dim=0)
put("renorm", M, 2, 0, 1.0)
put("clamp clip", M, 0.0, 1.0)
put("clamp_max clamp_min", M, 0.6)
put("threshold", M, 0.1, 0.0)
put("fill full_like", M, 1.0)
put("randint_like", M, 5)
put(
    """
    cholesky linalg.cholesky linalg.cholesky_ex linalg.inv linalg.inv_ex inverse det logdet slogdet linalg.det
    linalg.slogdet linalg.eigh linalg.eigvalsh linalg.eig linalg.eigvals linalg.ldl_factor linalg.ldl_factor_ex
    linalg.lu linalg.lu_factor linalg.lu_factor_ex lu linalg.matrix_rank linalg.cond
    """,
    SPD,
)
put("cholesky_inverse", TRIANGLE)
put("cholesky_solve triangular_solve", M, TRIANGLE)
put("linalg.solve_triangular", TRIANGLE, M, upper=False)
put("linalg.solve linalg.solve_ex linalg.lstsq", SPD, M)
put("linalg.tensorinv", rand(4, 2, 2), ind=1)
put("linalg.tensorsolve", SPD, V)
put("linalg.householder_product orgqr", M, V)
put("ormqr", M, V, M)
put("lu_solve", M, LU, PIVOTS)
put("linalg.lu_solve", LU, PIVOTS, M)
put("linalg.ldl_solve", SPD, PIVOTS, M)
put("lu_unpack", M, PIVOTS)
put("torch.polygamma special.polygamma", 1, M)
put("Tensor.polygamma", M, 1)
put("mvlgamma special.multigammaln", rand(3, low=3.0, high=4.0), 2)
put("binomial", rand(3, low=3, high=4), V)
put("histogram", V, 3)
put("nonzero_static", M, size=2)
put("unravel_index", INDEX, (3, 3))
put("segment_reduce", V, "sum", lengths=given([1, 2]))
put("to_sparse_bsr to_sparse_bsc", rand(2, 2), (1, 1))
put("stft", rand(16), 4, return_complex=True, window=WINDOW)
put("istft", Recipe(lambda: torch.complex(torch.rand(3, 9), torch.rand(3, 9))), 4, window=WINDOW)
put("view_as_real view_as_real_copy real imag conj resolve_conj angle cfloat mH H", COMPLEX)
put("view_as_complex", rand(3, 2))
put("to", M, torch.float32)
put("type", M, torch.float32)
put("double", rand(3, dtype=torch.float64))
put("half", rand(3, dtype=torch.float16))
put("bfloat16", rand(3, dtype=torch.bfloat16))
put("cdouble", Recipe(lambda: torch.rand(3).to(torch.complex128)))
put("chalf", Recipe(lambda: torch.rand(3).to(torch.complex32)))
put("__rtruediv__", M, 2)
put("as_subclass", M, Tensor)
put("new", M)
put("new_tensor", M, [1.0])
put("new_zeros new_ones new_empty", M, (2,))
put("new_full", M, (2,), 1.0)
put("new_empty_strided", M, (2,), (1,))
# torch.nn.functional
put("rrelu", rand(3, 3, low=-0.5, high=0.5), 0.1, 0.3, True)
put("prelu", M, rand(1))
put("torch.dropout torch.alpha_dropout torch.feature_dropout torch.feature_alpha_dropout", M, 0.5, True)
put("native_dropout F.alpha_dropout F.feature_alpha_dropout", M, 0.5, True)
put("dropout1d", SIGNAL)
put("dropout2d", IMAGE)
put("dropout3d", VOLUME)
for d, x, weight, bias in (
    (1, SIGNAL, rand(3, 3, 3), V),
    (2, IMAGE, rand(3, 3, 3, 3), V),
    (3, VOLUME, rand(2, 2, 3, 3, 3), rand(2)),
):
    put(f"conv{d}d conv_transpose{d}d", x, weight, bias)
    put(f"max_pool{d}d avg_pool{d}d max_pool{d}d_with_indices", x, 2)
    put(f"adaptive_avg_pool{d}d adaptive_max_pool{d}d adaptive_max_pool{d}d_with_indices", x, 2)
    put(f"fractional_max_pool{d}d fractional_max_pool{d}d_with_indices", x, 2, 3)
    put(f"lp_pool{d}d", x, 2.0, 2)
put("max_unpool1d", rand(1, 1, 2), given([[[1, 3]]]), 2)
put("max_unpool2d", rand(1, 1, 2, 2), given([[[[0, 3], [8, 11]]]]), 2)
put("max_unpool3d", rand(1, 1, 1, 1, 1), given([[[[[1]]]]]), 2)
put("F.batch_norm", SIGNAL, None, None, V, V, True)
put("torch.batch_norm", SIGNAL, V, V, None, None, True, 0.1, 1e-5, False)
put("F.instance_norm", SIGNAL)
put("torch.instance_norm", SIGNAL, V, V, None, None, True, 0.1, 1e-5, False)
put("layer_norm", M, (3,), V, V)
put("rms_norm", M, (3,), V)
put("group_norm", SIGNAL, 3, V, V)
put("local_response_norm", IMAGE, 2)
put("F.embedding", INDEX, M)
put("F.embedding_bag", given([[0, 1], [1, 2]]), M)
put("scaled_dot_product_attention", HEADS, HEADS, HEADS)
put("pixel_shuffle channel_shuffle", rand(1, 4, 2, 2), 2)
put("pixel_unshuffle", rand(1, 1, 2, 2), 2)
put("pad constant_pad_nd", M, (1, 1))
put("fold", rand(1, 4, 4), (3, 3), (2, 2))
put("F.unfold", IMAGE, 2)
put("interpolate upsample upsample_nearest upsample_bilinear", IMAGE, None, 2)
put("affine_grid", rand(1, 2, 3), (1, 1, 4, 4))
put("grid_sample", rand(1, 1, 4, 4), rand(1, 2, 2, 2))
put("grid_sampler", rand(1, 1, 4, 4), rand(1, 2, 2, 2), 0, 0, False)
put("torch.poisson_nll_loss", M, M, True, False, 1e-8, 1)
put("cross_entropy multi_margin_loss", M, INDEX)
put("nll_loss", rand(3, 3, low=-0.9, high=-0.5), INDEX)
put("multilabel_margin_loss", M, INDICES)
put("hinge_embedding_loss soft_margin_loss", M, SIGNS)
put("cosine_embedding_loss", M, M, given([1, -1, 1]))
put("margin_ranking_loss", V, V, given([1, -1, 1]))
put("ctc_loss", *CTC)
put("linear_cross_entropy", M, M, INDEX)
ATTENTION = (rand(2, 1, 4), rand(2, 1, 4), rand(2, 1, 4))
put(
    "multi_head_attention_forward",
    *(*ATTENTION, 4, 2, rand(12, 4), rand(12), None, None, False, 0.0, rand(4, 4), rand(4)),
)
put("rnn_tanh_cell rnn_relu_cell", rand(2, 3), rand(2, 3), rand(3, 3), rand(3, 3), rand(3), rand(3))
put("gru_cell", rand(2, 3), rand(2, 3), rand(9, 3), rand(9, 3), rand(9), rand(9))
put("lstm_cell", rand(2, 3), [rand(2, 3), rand(2, 3)], rand(12, 3), rand(12, 3), rand(12), rand(12))
for kind in ("chebyshev_polynomial_", "shifted_chebyshev_polynomial_"):
    put(" ".join(f"special.{kind}{letter}" for letter in "tuvw"), M, 2)
put("special.hermite_polynomial_h special.hermite_polynomial_he", M, 2)
put("special.laguerre_polynomial_l special.legendre_polynomial_p", M, 2)
# In-place forms whose arguments are not those of their base.
put("bernoulli_ geometric_", M, 0.5)
put("random_", M, 0, 5)
put("fill_diagonal_", M, 0.0)
put("normal_ uniform_ squeeze_", M)
put("embedding_renorm_", M, INDEX, 1.0, 2.0)
put("polygamma_", M, 1)
put("float_power_", rand(3, dtype=torch.float64), rand(3, dtype=torch.float64))

SPARSE = Recipe(lambda: M.make().to_sparse().coalesce())
put("smm hspmm sparse.mm", SPARSE, M)
put("spmm dsmm", M, M)
put("sspaddmm", SPARSE, SPARSE, M)
put("sparse.addmm", M, SPARSE, M)
put("sparse.sum coalesce values", SPARSE)
put("sparse.softmax sparse.log_softmax", SPARSE, 1)
put("sparse.sampled_addmm", Recipe(lambda: M.make().to_sparse_csr()), M, M)
put("sparse_mask", M, SPARSE)
put("sym_sum", [M, M])
put("resize", M, 9)
put("resize_as slice_inverse", M, M)
put("native_channel_shuffle", rand(1, 4, 2, 2), 2)
put("affine_grid_generator", rand(1, 2, 3), (1, 1, 4, 4), False)
put("conv_tbc", rand(4, 2, 3), rand(2, 3, 2), rand(2))
put("convolution", SIGNAL, rand(2, 3, 3), rand(2), [1], [0], [1], False, [0], 1)
put("mkldnn_convolution", SIGNAL, rand(2, 3, 3), rand(2), [0], [1], [1], 1)
put("fake_quantize_per_tensor_affine", M, 0.1, 0, 0, 255)
put("fake_quantize_per_channel_affine", M, torch.full((3,), 0.1), torch.zeros(3, dtype=torch.int32), 0, 0, 255)
put("grid_sampler_2d", rand(1, 1, 4, 4), rand(1, 2, 2, 2), 0, 0, False)
put("grid_sampler_3d", rand(1, 1, 4, 4, 4), rand(1, 2, 2, 2, 3), 0, 0, False)
ONE_LAYER = (True, 1, 0.0, True, False, False)
put("gru", rand(2, 1, 3), rand(1, 1, 3), [rand(9, 3), rand(9, 3), rand(9), rand(9)], *ONE_LAYER)
put("rnn_tanh rnn_relu", rand(2, 1, 3), rand(1, 1, 3), [M, M, V, V], *ONE_LAYER)
put(
    "lstm",
    *(rand(2, 1, 3), [rand(1, 1, 3), rand(1, 1, 3)], [rand(12, 3), rand(12, 3), rand(12), rand(12)], *ONE_LAYER),
)
put("native_batch_norm", SIGNAL, V, V, None, None, True, 0.1, 1e-5)
put("native_group_norm", SIGNAL, V, V, 2, 3, 8, 3, 1e-5)
put("native_layer_norm", M, [3], V, V, 1e-5)

UNARY = Sample((M,), {})
"""What a name without a sample of its own is called with."""

NAMESPACES = {"torch": torch, "Tensor": Tensor, "F": F}
PREFIXES = {
    "linalg": torch.linalg,
    "fft": torch.fft,
    "sparse": torch.sparse,
    "special": torch.special,
}
OWN_CALLS: dict[str, Callable[..., Any]] = {"index": operator.getitem}
OTHER_FORMS = {
    "torch.embedding": "weight first",
    "torch.embedding_bag": "weight first, four results",
    "torch.adaptive_max_pool1d": "always returns indices",
    "torch.ctc_loss": "reduces nothing by default",
    "Tensor.index": "not indexing but a feature of functorch",
}
"""Functions that share nothing but the name with the row."""

NEEDS_DEVICE = {"cuda", "ipu", "mtia", "pin_memory", "xpu"}

INEXACT = {
    "addcdiv": "the divisor is saved always, like in a quotient",
    "chain_matmul": "saves products of its factors",
    "complex": "saves each operand for itself",
    "copysign": "the sign giver is not saved",
    "cosine_similarity": "saves each operand for itself",
    "ctc_loss": "of the three integer operands only the targets are saved",
    "gru": "of the state, the biases and, for the input alone, the input nothing is saved",
    "gru_cell": "which weights are saved depends on the inputs",
    "hypot": "the operand that does not require grad is not saved",
    "index_add": "the source is saved too",
    "index_copy": "the source is saved only if it requires grad",
    "ldexp": "which operand is saved depends on which requires grad",
    "lerp": "for the ends only the weight is saved",
    "linalg.multi_dot": "saves products of its factors",
    "lstm_cell": "which weights are saved depends on the inputs",
    "multi_head_attention_forward": "the weights are saved, of the inputs only some",
    "multilabel_soft_margin_loss": "for the target nothing of the caller's is saved",
    "nextafter": "with respect to the second operand nothing is saved",
    "put": "the source is saved only if it requires grad",
    "rms_norm": "for the weight only the normalised input is saved",
    "rnn_relu": "of the state, the biases and, for the input alone, the input nothing is saved",
    "rnn_tanh": "of the state, the biases and, for the input alone, the input nothing is saved",
    "rnn_relu_cell": "which weights are saved depends on the inputs",
    "rnn_tanh_cell": "which weights are saved depends on the inputs",
    "sparse.addmm": "which factor is saved depends on which requires grad; always a sparse one",
    "sparse.mm": "a sparse first factor is saved always",
    "sparse.sampled_addmm": "the factors are saved only for each other",
    "stft": "for the window the padded input is saved",
}
"""Rows that are exact about a second backward (if the first operand requires grad, or all of them) but claim more
in-place changes to be noticed than are; `index_add` claims fewer."""

ONLY_SECOND_OPERAND = {"igamma", "igammac", "special.gammainc", "special.gammaincc", "special.zeta"}
"""There is no derivative with respect to the first operand."""
