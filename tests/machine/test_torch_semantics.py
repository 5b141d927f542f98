"""Every row of the table of operations, measured again on the installed PyTorch."""

from __future__ import annotations

import ast
import functools
import itertools
import operator
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autodetach.machine import torch_semantics as table
from autodetach.machine.torch_semantics import MODULES, OPS, Op, Saved, Shape, Unpacked, lookup, unpacked

pytestmark = [
    # Deprecations, prototype notices and hints of PyTorch, none of them about what is measured here.
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

# ---- samples: the arguments with which each operation is called


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


# ---- measuring


@dataclass(frozen=True)
class Measured:
    """What running an operation showed."""

    raises: bool
    operands: frozenset[int]
    result: bool


def forms(name: str) -> dict[str, Callable[..., Any]]:
    """The callables that a row speaks of, by where they live."""
    if name in OWN_CALLS:
        return {name: OWN_CALLS[name]}
    prefix, dot, bare = name.rpartition(".")
    if dot:
        return {prefix: getattr(PREFIXES[prefix], bare)}
    found: dict[str, Callable[..., Any]] = {}
    for space, module in NAMESPACES.items():
        member = getattr(module, name, None)
        if f"{space}.{name}" in OTHER_FORMS:
            continue
        if callable(member):
            found[space] = member
        elif space == "Tensor" and member is not None:
            found[space] = operator.attrgetter(name)
    return found


def sample_of(space: str, name: str) -> Sample:
    base = name.rstrip("_") if not name.startswith("_") else name
    for key in (f"{space}.{name}", name, f"{space}.{base}", base):
        if key in SAMPLES:
            return SAMPLES[key]
    return UNARY


def tensors_in(value: object) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in tensors_in(item)]
    return []


def arguments(sample: Sample, required: Sequence[int] = ()) -> tuple[list[Tensor], list[Any], dict[str, Any]]:
    """The tensor operands of a call and its arguments; the `required` operands require grad but are no leaves."""
    torch.manual_seed(0)
    operands: list[Tensor] = []

    def fill(value: object) -> object:
        if isinstance(value, Recipe):
            tensor = value.make()
            if len(operands) in required:
                tensor = tensor.requires_grad_().clone()
            operands.append(tensor)
            return tensor
        if isinstance(value, (list, tuple)):
            return type(value)(fill(item) for item in value)
        return value

    args = [fill(value) for value in sample.args]
    return operands, args, {key: fill(value) for key, value in sample.kwargs.items()}


def run(call: Callable[..., Any], sample: Sample, required: Sequence[int] = ()) -> tuple[list[Tensor], Any]:
    """The operands and the value of a call."""
    operands, args, kwargs = arguments(sample, required)
    value = call(*args, **kwargs)
    return operands, operands[0] if call is Tensor.__setitem__ else value


def backward(value: object) -> None:
    results = [t for t in tensors_in(value) if t.requires_grad]
    # The gradient of a COO tensor must be one.
    results = [t.to_dense() if t.layout == torch.sparse_coo else t for t in results]
    torch.autograd.backward(results, [torch.ones_like(t) for t in results])


def second_backward_raises(value: object) -> bool:
    backward(value)
    try:
        backward(value)
    except RuntimeError as error:
        if "through the graph a second time" not in str(error):
            raise
        return True
    return False


def change_is_noticed(tensor: Tensor, value: object) -> bool:
    """Whether backward from `value` minds that `tensor` was written to (with what it held already)."""
    with torch.no_grad():
        try:
            tensor.copy_(tensor.clone())
        except RuntimeError as error:
            if "single memory location" not in str(error):
                raise
            return False  # an expanded tensor cannot be written to
    try:
        backward(value)
    except RuntimeError as error:
        if "modified by an inplace operation" in str(error):
            return True
        if "is a view" not in str(error):  # of several views of one call none may be written to, saved or not
            raise
    return False


def measure(call: Callable[..., Any], sample: Sample, required: Sequence[int]) -> Measured:
    operands, value = run(call, sample, required)
    raises = second_backward_raises(value)
    noticed = set()
    for position in range(len(operands)):
        operands, value = run(call, sample, required)
        if change_is_noticed(operands[position], value):
            noticed.add(position)
    _, value = run(call, sample, required)
    return Measured(raises, frozenset(noticed), change_is_noticed(tensors_in(value)[0], value))


def floating(operands: Sequence[Tensor]) -> list[int]:
    return [i for i, t in enumerate(operands) if t.is_floating_point() or t.is_complex()]


def subsets(positions: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every choice of operands that require grad; for many operands single ones and all."""
    for size in range(1, len(positions) + 1):
        if len(positions) <= 4 or size in (1, len(positions)):
            yield from itertools.combinations(positions, size)


def expected(op: Op, operands: Sequence[Tensor], required: Sequence[int], **kwargs: bool) -> Measured:
    able = floating(operands)
    flags = [i in required for i in range(len(operands))]
    claim: Unpacked = unpacked(op, flags, [i not in able for i in range(len(operands))], **kwargs)
    noticed = claim.operands | {0} if op.inplace and claim.result else claim.operands
    return Measured(claim.raises, frozenset(noticed), claim.result)


def rows(name: str) -> Iterator[tuple[Callable[..., Any], Sample]]:
    for space, call in forms(name).items():
        yield call, sample_of(space, name)


def check_saved(name: str, op: Op) -> None:
    """Compare every form of a row with what PyTorch does; rows of INEXACT must differ somewhere, or leave that list."""
    inexact = name in INEXACT or name.rstrip("_") in INEXACT
    differs = False
    for call, sample in rows(name):
        operands, _ = run(call, sample)
        able = floating(operands)
        for required in subsets(able):
            _, value = run(call, sample, required)
            if not any(t.requires_grad for t in tensors_in(value)):
                continue  # the other operand of type_as, view_as, ...
            if 0 in required and name.rstrip("_") in ONLY_SECOND_OPERAND:
                with pytest.raises(RuntimeError, match=r"derivative .* is not implemented"):
                    backward(value)
                continue
            claim, fact = expected(op, operands, required), measure(call, sample, required)
            differs = differs or fact != claim
            assert inexact or fact == claim, (name, call, required)
            if required in ((able[0],), tuple(able)):
                assert fact.raises == claim.raises
            if required == tuple(able) and name.rstrip("_") != "index_add":
                assert fact.operands <= claim.operands
                assert fact.result <= claim.result
    assert differs or name not in INEXACT


TESTED = sorted(
    {
        *(n for n in OPS if n.startswith("__") or not n.endswith("_")),
        # Names with a prefix that follow from the bare name.
        *(f"{p}.{n}" for p, space in PREFIXES.items() for n in dir(space) if n in OPS and callable(getattr(space, n))),
    }
    - NEEDS_DEVICE
)
HISTORY = [n for n in TESTED if lookup(n).differentiable]
INPLACE = sorted(
    {
        name
        for module in NAMESPACES.values()
        for name in dir(module)
        if name.endswith("_") and not name.startswith("_") and callable(getattr(module, name))
    }
)
REJECT_HISTORY = {
    *("apply_", "map_", "map2_", "resize_", "resize_as_", "resize_as_sparse_", "set_"),
    *("sparse_resize_", "sparse_resize_and_clear_"),
}
"""Methods that refuse tensors that require grad, or whose backward does."""


# ---- operations


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("name", HISTORY)
def test_history_and_what_is_saved(name: str) -> None:
    for call, sample in rows(name):
        able = floating(run(call, sample)[0])
        assert any(t.requires_grad for t in tensors_in(run(call, sample, able)[1]))
    if name in table.NO_DERIVATIVE:
        for call, sample in rows(name):
            _, value = run(call, sample, floating(run(call, sample)[0]))
            with pytest.raises(RuntimeError, match=r"derivative .* is not implemented"):
                backward(value)
    else:
        check_saved(name, lookup(name))


@pytest.mark.parametrize("name", [n for n in TESTED if not lookup(n).differentiable])
def test_no_history(name: str) -> None:
    for call, sample in rows(name):
        operands, _ = run(call, sample)
        _, value = run(call, sample, floating(operands))
        assert not any(t.requires_grad for t in tensors_in(value))


@pytest.mark.parametrize("name", sorted(set(INPLACE) - REJECT_HISTORY))
def test_inplace_forms(name: str) -> None:
    op = lookup(name)
    assert op.view
    assert op.inplace is (name not in table.INPLACE_EXCEPTIONS)
    for call, sample in rows(name):
        able = floating(run(call, sample)[0])
        operands, args, kwargs = arguments(sample, able[:1])
        shape, version, content = operands[0].shape, operands[0]._version, operands[0].detach().clone()
        value = call(*args, **kwargs)
        assert value is operands[0]
        assert not able or value.requires_grad is op.differentiable
        assert op.shape is Shape.UNKNOWN or value.shape == shape
        if op.inplace:
            assert value._version > version
        else:
            assert set(value.flatten().tolist()) <= set(content.flatten().tolist())
    if name in table.NO_DERIVATIVE or name.rstrip("_") in table.NO_DERIVATIVE:
        for call, sample in rows(name):
            with pytest.raises(RuntimeError, match=r"derivative .* is not implemented"):
                backward(run(call, sample, (0,))[1])
    elif op.differentiable:
        check_saved(name, op)


@pytest.mark.parametrize(
    "name", [n for n in HISTORY if hasattr(F, n) and "inplace" in getattr(getattr(F, n), "__annotations__", ())]
)
def test_inplace_by_keyword_is_the_form_with_an_underscore(name: str) -> None:
    call = functools.partial(getattr(F, name), inplace=True)
    sample = sample_of("F", name)
    operands, value = run(call, sample, (0,))
    assert value is operands[0]
    assert measure(call, sample, (0,)) == expected(lookup(f"{name}_"), operands, (0,))


@pytest.mark.parametrize("name", TESTED)
def test_every_row_can_be_called_and_what_it_returns(name: str) -> None:
    outputs = lookup(name).outputs
    assert forms(name)
    for call, sample in rows(name):
        operands, value = run(call, sample, floating(run(call, sample)[0]))
        assert operands
        if outputs in (1, "indices", "reduce2", "each") and isinstance(value, Tensor):
            continue
        assert isinstance(value, tuple)
        history = [t.requires_grad for t in value]
        if outputs == "pair":
            assert history == [True, False]
        elif isinstance(outputs, int):
            assert len(value) == outputs
            assert any(history) is lookup(name).differentiable
        elif outputs == "each":
            for position in range(len(operands)):
                _, value = run(call, sample, (position,))
                assert [t.requires_grad for t in value] == [i == position for i in range(len(operands))]
        else:
            assert outputs == "many"
            assert all(history)


@pytest.mark.parametrize("name", [n for n in TESTED if lookup(n).outputs == "reduce2"])
def test_pairs_that_a_dim_asks_for(name: str) -> None:
    for call, _ in rows(name):
        for sample in (Sample((M, 1), {}), Sample((M,), {"dim": 1})):
            operands, value = run(call, sample, (0,))
            assert [t.requires_grad for t in value] == [True, False]
            assert measure(call, sample, (0,)) == expected(lookup(name), operands, (0,), indexed=True)


@pytest.mark.parametrize("name", [n for n in TESTED if lookup(n).outputs == "indices"])
def test_pairs_that_return_indices_asks_for(name: str) -> None:
    sample = sample_of("F", name)
    _, value = run(getattr(F, name), Sample(sample.args, {"return_indices": True}), (0,))
    assert [t.requires_grad for t in value] == [True, False]


@pytest.mark.parametrize("name", TESTED)
def test_views(name: str) -> None:
    shared = []
    for call, sample in rows(name):
        operands, value = run(call, sample)
        if operands[0].layout != torch.strided:
            continue
        memory = operands[0].untyped_storage().data_ptr()
        results = [t for t in tensors_in(value) if t.layout == torch.strided]
        shared.append(any(t.untyped_storage().data_ptr() == memory for t in results))
    assert any(shared) is lookup(name).view


@pytest.mark.parametrize("name", [n for n in TESTED if lookup(n).shape is not Shape.UNKNOWN])
def test_shapes(name: str) -> None:
    shape = lookup(name).shape
    for call, sample in rows(name):
        if shape is Shape.LOSS and call is not getattr(F, name):
            continue  # torch.NAME is the inside of F.NAME and takes the reduction as a number
        operands, value = run(call, sample)
        result = tensors_in(value)[0].shape
        first = next(t for t in operands if t.dim() > 0)
        if shape is Shape.SAME:
            assert result == first.shape
        elif shape is Shape.BROADCAST:
            assert result == np.broadcast_shapes(*(t.shape for t in operands))
        else:
            assert result == ()
            assert first.dim() > 0


def first_row(recipe: Recipe) -> Recipe:
    return Recipe(lambda: recipe.make()[:1])


@pytest.mark.parametrize("name", [n for n in TESTED if lookup(n).shape is Shape.BROADCAST])
def test_a_smaller_first_operand_is_broadcast(name: str) -> None:
    for call, sample in rows(name):
        operands, _ = run(call, sample)
        if len(operands) < 2 or operands[0].dim() != operands[1].dim():
            continue
        operands, value = run(call, Sample((first_row(sample.args[0]), *sample.args[1:]), sample.kwargs))
        assert operands[0].shape[0] == 1
        assert value.shape == operands[1].shape


@pytest.mark.parametrize("name", [n for n in TESTED if lookup(n).shape is Shape.REDUCE])
def test_reductions_with_a_dim(name: str) -> None:
    for call, _ in rows(name):
        by_name = run(call, Sample((M,), {"dim": (0, 1) if name == "nuclear_norm" else 0}))[1]
        assert tensors_in(by_name)[0].dim() == (0 if name == "nuclear_norm" else 1)
        if name in ("aminmax", "hash_tensor", "nuclear_norm"):
            continue  # dim by keyword only, or two of them
        filler = (2,) * (lookup(name).dim_at - 1)
        assert tensors_in(run(call, Sample((M, *filler, 0), {}))[1])[0].dim() == 1


@pytest.mark.parametrize("name", ["sum", "mean", "norm", "std", "argmax"])
def test_a_dim_of_none_reduces_everything(name: str) -> None:
    assert all(run(call, Sample((M,), {"dim": None}))[1].dim() == 0 for call, _ in rows(name))


@pytest.mark.parametrize("name", [n for n in TESTED if lookup(n).shape is Shape.LOSS])
def test_losses_without_reduction(name: str) -> None:
    sample = sample_of("F", name)
    _, value = run(getattr(F, name), Sample(sample.args, {"reduction": "none"}))
    assert value.dim() > 0


@pytest.mark.parametrize(
    ("text", "name", "before"),
    [
        ("x * 2", "mul", 0),
        ("2 * x", "mul", 0),
        ("x / 2", "div", 0),
        ("2 / x", "__rtruediv__", 1),
        ("x ** 2", "pow", 0),
        ("x ** 1", "pow", 0),
        ("2 ** x", "pow", 1),
        ("torch.pow(2, x)", "pow", 1),
        ("x + 2", "add", 0),
        ("x - 2", "sub", 0),
        ("2 - x", "sub", 1),
        ("x % 2", "remainder", 0),
        ("-x", "neg", 0),
        ("x.lerp(x.detach().clone(), 0.5)", "lerp", 0),
        ("torch.maximum(x, torch.tensor(0.0))", "maximum", 0),
        ("x.clamp(min=0)", "clamp", 0),
        ("torch.where(x > 0, x, 0.0)", "where", 0),
        ("x[0]", "__getitem__", 0),
        ("x[0:2, None, ...]", "__getitem__", 0),
        ("x[[0, 1]]", "index", 0),
    ],
)
def test_numbers_as_operands(text: str, name: str, before: int) -> None:
    call = eval(f"lambda x: {text}", {"torch": torch})
    sample = Sample((M,), {})
    fact = measure(call, sample, (0,))
    flags = [False] * before + [True]
    claim = unpacked(lookup(name), flags, [False] * len(flags), only_first=before == 0)
    assert fact.raises is claim.raises
    assert (0 in fact.operands) is (before in claim.operands)
    assert fact.result is claim.result


@pytest.mark.parametrize("operands", [[True], [True, False], [False, True], [True, True], [True, True, True]])
@pytest.mark.parametrize("saved", list(Saved))
def test_unpacked_names_only_operands_that_exist(saved: Saved, operands: list[bool]) -> None:
    claim = unpacked(Op(saved), operands)
    assert claim.operands <= set(range(len(operands)))
    assert claim.raises or not (claim.operands or claim.result)


# ---- names


def test_import_is_cheap() -> None:
    code = "import sys, autodetach.machine.torch_semantics; print('torch' in sys.modules, 'libcst' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_lookup_of_names_that_are_no_rows() -> None:
    assert lookup("no_such_operation") is table.DEFAULT
    assert lookup("linalg.matmul") == OPS["matmul"]
    assert lookup("special.exp2") == OPS["exp2"]
    assert lookup("requires_grad_").saved is Saved.NOTHING
    assert not lookup("detach_").differentiable
    assert lookup("mul_").inplace
    assert not OPS["mul"].inplace


X = {"a": torch.tensor([5.0, 6.0]), "b": torch.tensor([2.0, 4.0])}
N = {"a": torch.tensor([5, 6]), "b": torch.tensor([2, 1])}
EXPRESSIONS = [
    *("a + b", "a - b", "a * b", "a / b", "a // b", "a % b", "a ** b", "a @ b", "a == b", "a != b", "a < b", "a <= b"),
    *("a > b", "a >= b", "-a", "+a", "a << b", "a >> b", "a & b", "a | b", "a ^ b", "~a"),
]


def operator_in(expression: str) -> str:
    names = {type(node).__name__ for node in ast.walk(ast.parse(expression, mode="eval"))}
    return (names & table.OPERATORS.keys()).pop()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_operators(expression: str) -> None:
    name = table.OPERATORS[operator_in(expression)]
    values = N if name.startswith("bitwise") else X
    operands = [values[v] for v in ("a", "b") if v in expression]
    assert torch.equal(eval(expression, {}, dict(values)), getattr(torch, name)(*operands))
    assert name in OPS


def test_every_operator_of_the_syntax_is_there() -> None:
    assert {operator_in(expression) for expression in EXPRESSIONS} == table.OPERATORS.keys()
    kinds = (*ast.operator.__subclasses__(), *ast.unaryop.__subclasses__(), *ast.cmpop.__subclasses__())
    assert {k.__name__ for k in kinds} - table.OPERATORS.keys() == {"Not", "Is", "IsNot", "In", "NotIn"}


FACTORY_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **{name: (3,) for name in table.FACTORIES if name.endswith("Tensor")},
    **dict.fromkeys(("eye", "randperm", "fft.fftfreq", "fft.rfftfreq"), (3,)),
    "arange": (3.0,),
    **{f"{w}_window": (3,) for w in ("bartlett", "blackman", "hamming", "hann", "kaiser")},
    **dict.fromkeys(("empty", "ones", "zeros", "rand", "randn"), (2, 3)),
    **dict.fromkeys(("as_tensor", "asarray", "tensor"), ([0.5],)),
    **dict.fromkeys(("linspace", "logspace"), (0, 1, 3)),
    **dict.fromkeys(("tril_indices", "triu_indices"), (2, 2)),
    "empty_permuted": ((2, 3), (1, 0)),
    "empty_strided": ((2, 3), (3, 1)),
    "from_file": (),
    "from_numpy": (np.zeros(3),),
    "frombuffer": (bytearray(8),),
    "full": ((2,), 0.5),
    "normal": (0.0, 1.0, (2,)),
    "randint": (5, (2,)),
    "range": (0, 2),
    "scalar_tensor": (0.5,),
    "sparse_coo_tensor": ([[0]], [0.5]),
}
INTEGER_FACTORIES = {"randint", "randperm", "randint_like"}


@pytest.mark.parametrize("name", sorted(table.FACTORIES))
def test_factories(name: str, tmp_path: Any) -> None:
    prefix, _, bare = name.rpartition(".")
    like = name.endswith("_like") or name.startswith("new_")
    call = getattr(M.make().requires_grad_(), name) if name.startswith("new_") else None
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    if call is not None:
        args = sample_of("Tensor", name).args[1:]
    elif like:
        call = getattr(torch, name)
        args = (M.make().requires_grad_(), *sample_of("torch", name).args[1:])
    else:
        call = getattr(PREFIXES.get(prefix, torch), bare)
        args = FACTORY_ARGUMENTS[name]
    if name == "frombuffer":
        kwargs["dtype"] = torch.float32
    if name == "from_file":
        path = tmp_path / "numbers"
        path.write_bytes(bytes(8))
        args, kwargs = (str(path),), {"size": 2}
    if name in INTEGER_FACTORIES:
        kwargs["dtype"] = torch.float32
    made = call(*args, **kwargs)
    assert not made.requires_grad
    if name in table.TAKES_REQUIRES_GRAD:
        assert call(*args, **kwargs, requires_grad=True).requires_grad
    else:
        with pytest.raises((TypeError, RuntimeError)):
            assert call(*args, **kwargs, requires_grad=True).requires_grad


def test_factories_are_complete() -> None:
    documented = {
        name
        for name in dir(torch)
        if not name.startswith("_")
        and not isinstance(getattr(torch, name), type)
        and "requires_grad (bool" in str(getattr(torch, name).__doc__)
    }
    compressed = {f"sparse_{layout}_tensor" for layout in ("bsc", "bsr", "compressed", "csc", "csr")}
    assert documented - compressed <= table.TAKES_REQUIRES_GRAD


def draws(call: Callable[..., Any], sample: Sample) -> bool:
    _, args, kwargs = arguments(sample)
    before = torch.get_rng_state()
    call(*args, **kwargs)
    return not torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("name", sorted({*TESTED, *INPLACE} - REJECT_HISTORY))
def test_random_operations(name: str) -> None:
    assert all(draws(call, sample) is (name in table.RANDOM) for call, sample in rows(name))


@pytest.mark.parametrize("name", sorted(FACTORY_ARGUMENTS.keys() - {"from_file", "from_numpy", "frombuffer"}))
def test_random_factories(name: str) -> None:
    prefix, _, bare = name.rpartition(".")
    call = getattr(PREFIXES.get(prefix, torch), bare)
    assert draws(call, Sample(FACTORY_ARGUMENTS[name], {})) is (name in table.RANDOM)


def test_every_random_name_is_an_operation_a_factory_or_a_module() -> None:
    assert {*OPS, *INPLACE, *table.FACTORIES, *MODULES} >= table.RANDOM


@pytest.mark.parametrize("name", sorted(table.DETACHING))
def test_detaching(name: str) -> None:
    value = getattr(M.make().requires_grad_().clone(), name)
    assert not (value() if callable(value) else value).requires_grad
    assert not lookup(name).differentiable


def test_number_methods_and_effects_are_attributes_or_functions() -> None:
    assert {*dir(torch), *table.TENSOR_ATTRIBUTES} >= table.NUMBER_METHODS | table.EFFECTS
    assert not table.NUMBER_METHODS & OPS.keys()


def test_tensor_attributes() -> None:
    assert {name for name in dir(Tensor) if not name.startswith("_")} == table.TENSOR_ATTRIBUTES


PLAIN_ARGUMENTS: dict[str, tuple[Any, ...]] = dict.fromkeys(
    ("allclose", "equal", "is_same_size", "is_set_to"), (torch.ones(1),)
)
QUANTIZED = {"q_per_channel_axis", "q_scale", "q_zero_point", "qscheme"}


@pytest.mark.parametrize("name", sorted(table.NUMBER_METHODS))
def test_number_methods(name: str) -> None:
    if name in QUANTIZED:
        per_channel = torch.quantize_per_channel(torch.ones(1), torch.ones(1), torch.zeros(1), 0, torch.qint8)
        per_tensor = torch.quantize_per_tensor(torch.ones(1), 0.1, 0, torch.qint8)
        owner = per_channel if name == "q_per_channel_axis" else per_tensor
    else:
        owner = torch.ones(1).to_sparse() if name == "is_coalesced" else torch.ones(1)
    value = getattr(owner, name)
    if callable(value):
        value = value(*PLAIN_ARGUMENTS.get(name, ()))
    assert not tensors_in(value)


@pytest.mark.parametrize("name", sorted({n for n in TESTED if hasattr(torch, n)} - {"new", *OWN_CALLS}))
def test_numbers_in_place_of_the_first_tensor(name: str) -> None:
    sample = sample_of("torch", name)
    call = getattr(torch, name)
    _, args, kwargs = arguments(sample)
    position = next((i for i, a in enumerate(args) if isinstance(a, Tensor)), None)
    if not callable(call) or position is None:
        return
    # The old constructors take a size.
    args[position] = 1 if args[position].dtype == torch.int64 or name.endswith("Tensor") else 0.5
    if name in table.ACCEPTS_NUMBERS:
        call(*args, **kwargs)
    else:
        with pytest.raises((TypeError, AttributeError, NotImplementedError)):
            call(*args, **kwargs)


@pytest.mark.parametrize("number", [1, 0.5])
@pytest.mark.parametrize("name", sorted(table.TAKES_TWO_TENSORS))
def test_numbers_in_place_of_the_second_tensor(name: str, number: float) -> None:
    call = getattr(torch, name, None) or getattr(torch.nn.functional, name)
    _, args, kwargs = arguments(sample_of("torch", name))
    call(*args, **kwargs)
    args[1] = number
    with pytest.raises((TypeError, AttributeError)):
        call(*args, **kwargs)


@pytest.mark.parametrize("name", ["stack", "cat", "hstack"])
def test_numbers_in_a_list_of_tensors(name: str) -> None:
    with pytest.raises(TypeError):
        getattr(torch, name)([0.5, 0.5])


@pytest.mark.parametrize("name", sorted(n for n in table.ACCEPTS_NUMBERS if n not in OPS and "." not in n))
def test_functions_of_numbers(name: str) -> None:
    more = {"sym_sum": ([1],), **dict.fromkeys(("sym_max", "sym_min", "result_type"), (1, 2))}
    getattr(torch, name)(*{**FACTORY_ARGUMENTS, **more}.get(name, (1,)))


# ---- modules


MODULE_CALLS: dict[str, tuple[tuple[Any, ...], tuple[Recipe, ...]]] = {}


def module(names: str, arguments: tuple[Any, ...], *inputs: Recipe) -> None:
    MODULE_CALLS.update(dict.fromkeys(names.split(), (arguments, inputs)))


module(
    """
    AlphaDropout Dropout CELU ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh Identity LeakyReLU LogSigmoid Mish
    PReLU ReLU ReLU6 SELU SiLU Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink FeatureAlphaDropout
    """,
    (),
    M,
)
module("RReLU", (), rand(3, 3, low=-0.5, high=0.5))
for d, x in ((1, SIGNAL), (2, IMAGE), (3, VOLUME)):
    channels = 2 if d == 3 else 3
    module(f"AdaptiveAvgPool{d}d AdaptiveMaxPool{d}d AvgPool{d}d MaxPool{d}d", (2,), x)
    module(f"BatchNorm{d}d InstanceNorm{d}d", (channels,), x)
    module(f"LazyBatchNorm{d}d LazyInstanceNorm{d}d Dropout{d}d", (), x)
    module(f"Conv{d}d ConvTranspose{d}d", (channels, 2, 3), x)
    module(f"LazyConv{d}d LazyConvTranspose{d}d", (2, 3), x)
    module(f"CircularPad{d}d ReflectionPad{d}d ReplicationPad{d}d ZeroPad{d}d", (1,), x)
    module(f"ConstantPad{d}d", (1, 0.5), x)
    module(f"LPPool{d}d", (2, 2), x)
module("FractionalMaxPool2d", (2, 3), IMAGE)
module("FractionalMaxPool3d", (2, 3), VOLUME)
module("SyncBatchNorm", (3,), SIGNAL)
module("LayerNorm RMSNorm", (3,), M)
module("GroupNorm", (3, 3), IMAGE)
module("LocalResponseNorm CrossMapLRN2d", (2,), IMAGE)
module("GLU", (), rand(3, 4))
module("Flatten", (), BATCH)
module("Unflatten", (1, (3, 1)), M)
module("LogSoftmax Softmax Softmin", (1,), M)
module("Softmax2d", (), IMAGE)
module("Threshold", (0.1, 0.0), M)
module("CosineSimilarity PairwiseDistance", (), M, M)
module("BCELoss BCEWithLogitsLoss HuberLoss KLDivLoss L1Loss MSELoss MultiLabelSoftMarginLoss", (), M, M)
module("PoissonNLLLoss SmoothL1Loss", (), M, M)
module("SoftMarginLoss HingeEmbeddingLoss", (), M, SIGNS)
module("CosineEmbeddingLoss", (), M, M, given([1, -1, 1]))
module("MarginRankingLoss", (), V, V, given([1, -1, 1]))
module("TripletMarginLoss TripletMarginWithDistanceLoss GaussianNLLLoss", (), M, M, M)
module("CrossEntropyLoss NLLLoss NLLLoss2d MultiMarginLoss", (), M, INDEX)
module("MultiLabelMarginLoss", (), M, INDICES)
module("CTCLoss", (), *CTC)
module("LinearCrossEntropyLoss", (3, 4), M, INDEX)
module("AdaptiveLogSoftmaxWithLoss", (3, 4, [2]), M, INDEX)
module("Linear", (3, 2), M)
module("LazyLinear", (2,), M)
module("Bilinear", (3, 3, 2), M, M)
module("ChannelShuffle PixelShuffle", (2,), rand(1, 4, 2, 2))
module("PixelUnshuffle", (2,), rand(1, 1, 2, 2))
module("Embedding", (4, 3), INDEX)
module("EmbeddingBag", (4, 3), given([[0, 1], [1, 2]]))
module("Fold", ((3, 3), (2, 2)), rand(1, 4, 4))
module("Unfold", (2,), IMAGE)
module("MaxUnpool1d", (2,), rand(1, 1, 2), given([[[1, 3]]]))
module("MaxUnpool2d", (2,), rand(1, 1, 2, 2), given([[[[0, 3], [8, 11]]]]))
module("MaxUnpool3d", (2,), rand(1, 1, 1, 1, 1), given([[[[[1]]]]]))
module("Upsample UpsamplingBilinear2d UpsamplingNearest2d", (None, 2), IMAGE)
module("RNN GRU LSTM", (3, 3), BATCH)
module("RNNCell GRUCell LSTMCell", (3, 3), M)
module("MultiheadAttention", (4, 2), *ATTENTION)
module("TransformerEncoderLayer", (4, 2), ATTENTION[0])
module("TransformerDecoderLayer", (4, 2), *ATTENTION[:2])
module("Transformer", (4, 2, 1, 1, 8), *ATTENTION[:2])
module("TransformerEncoder", (lambda: nn.TransformerEncoderLayer(4, 2, 8), 1), ATTENTION[0])
module("TransformerDecoder", (lambda: nn.TransformerDecoderLayer(4, 2, 8), 1), *ATTENTION[:2])

BASES = {"RNNBase", "RNNCellBase", *(n for n, m in MODULES.items() if m.result == "container")}
INEXACT_MODULES = {
    "AdaptiveLogSoftmaxWithLoss": "the target is not saved",
    "CosineEmbeddingLoss": "the target is not saved",
    "CTCLoss": "of the three integer operands only the targets are saved",
    "CosineSimilarity": "saves each operand for itself",
    "MultiLabelSoftMarginLoss": "for the target nothing of the caller's is saved",
    "RMSNorm": "for the weight only the normalised input is saved",
    "RNNCell": "the result is saved too",
}


def run_module(name: str, required: Sequence[int] = ()) -> tuple[nn.Module, list[Tensor], Any]:
    built, inputs = MODULE_CALLS[name]
    torch.manual_seed(0)
    instance = getattr(nn, name)(*(a() if callable(a) else a for a in built))
    operands, args, _ = arguments(Sample(inputs, {}), required)
    return instance, operands, instance(*args)


def measure_module(name: str, required: Sequence[int]) -> Measured:
    instance, operands, value = run_module(name, required)
    raises = second_backward_raises(value)
    noticed = set()
    for position in range(len(operands)):
        _, operands, value = run_module(name, required)
        if change_is_noticed(operands[position], value):
            noticed.add(position)
    for parameter in dict(instance.named_parameters()):
        instance, operands, value = run_module(name, required)
        if change_is_noticed(instance.get_parameter(parameter), value):
            noticed.add(len(operands))
    _, _, value = run_module(name, required)
    return Measured(raises, frozenset(noticed), change_is_noticed(tensors_in(value)[0], value))


def test_no_module_is_missing() -> None:
    public = {n for n in dir(nn) if isinstance(getattr(nn, n), type) and issubclass(getattr(nn, n), nn.Module)}
    assert public == MODULES.keys()
    assert public == MODULE_CALLS.keys() | BASES


@pytest.mark.parametrize("name", sorted(MODULE_CALLS))
def test_modules(name: str) -> None:
    row = MODULES[name]
    instance, operands, value = run_module(name)
    assert any(p.requires_grad for p in instance.parameters()) is row.params
    able = floating(operands)
    exact = True
    for required in [(), *subsets(able)]:
        _, _, value = run_module(name, required)
        if not required and not row.params:
            assert not any(t.requires_grad for t in tensors_in(value))
            continue
        fact = measure_module(name, required)
        flags = [i in required for i in range(len(operands))] + [True] * row.params
        discrete = [i not in able for i in range(len(operands))] + [False] * row.params
        claim = unpacked(row.op, flags, discrete)
        same = fact == Measured(claim.raises, claim.operands, claim.result)
        assert same or name in INEXACT_MODULES, (required, fact, claim)
        assert fact.raises is claim.raises
        exact = exact and same
    assert exact is (name not in INEXACT_MODULES)


@pytest.mark.parametrize("name", sorted(MODULE_CALLS))
def test_results_of_modules(name: str) -> None:
    row = MODULES[name]
    _, operands, value = run_module(name)
    results = tensors_in(value)
    if row.result in ("tensor", "loss", "cell"):
        assert isinstance(value, Tensor)
    elif row.result in ("lstm", "lstmcell"):
        assert [isinstance(part, Tensor) for part in value] == [True, row.result == "lstmcell"]
        assert len(results) == (3 if row.result == "lstm" else 2)
    else:
        assert row.result in ("rnn", "attention", "output_loss")
        assert [isinstance(part, Tensor) for part in value] == [True, True]
    if row.result == "output_loss":
        assert value.loss.dim() == 0
    if row.shape is Shape.SAME:
        assert results[0].shape == operands[0].shape
    elif row.shape is Shape.LOSS:
        assert results[0].dim() == 0
        built, inputs = MODULE_CALLS[name]
        unreduced = getattr(nn, name)(*built, reduction="none")
        assert unreduced(*arguments(Sample(inputs, {}))[1]).dim() > 0
    else:
        assert row.shape is Shape.UNKNOWN


@pytest.mark.parametrize("name", sorted(MODULE_CALLS))
def test_random_modules(name: str) -> None:
    instance, operands, _ = run_module(name)
    before = torch.get_rng_state()
    instance(*operands)
    assert torch.equal(before, torch.get_rng_state()) is not MODULES[name].random
    assert (name in table.RANDOM) is MODULES[name].random
