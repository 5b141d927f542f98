"""What each operation of PyTorch saves and returns: one row for each that does not follow the default."""

from __future__ import annotations

from autodetach.machine.torch_facts import Op, Saved, Shape
from autodetach.named_tuples import NamedTuple


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _rows(op: Op, names: str) -> dict[str, Op]:
    return dict.fromkeys(names.split(), op)


# Keyed by the bare name, valid for torch.NAME, Tensor.NAME and torch.nn.functional.NAME; with the prefix linalg., fft.
# or special. where that differs from the bare name. Ask `lookup`, which also knows the in-place forms.
# F.NAME(..., inplace=True) is NAME_, and so are the modules with inplace=True.
# Not told by the name alone: max and min of two tensors are maximum and minimum; dropout in eval mode saves nothing;
# repeat_interleave with a tensor and the trapezoidal rules with one do save, einsum of one tensor does not; VARIANTS;
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
    **_rows(Op(Saved.NOTHING, Shape.SAME), "coalesce detach_copy native_channel_shuffle"),
    **_rows(Op(Saved.NOTHING, Shape.SCALAR), "trace"),
    **_rows(
        Op(Saved.NOTHING),
        """
        affine_grid affine_grid_generator as_strided_copy block_diag cartesian_prod cat column_stack concat concatenate
        constant_pad_nd
        cumulative_trapezoid diag diag_embed diagflat diagonal_copy diff dstack expand_copy fft.fft2 fft.fftn fft.hfft
        fft.hfft2 fft.hfftn fft.ifft2 fft.ifftn fft.irfft fft.irfft2 fft.irfftn fold hspmm hstack interpolate
        linalg.ldl_solve smm sspaddmm
        narrow_copy pad permute_copy pixel_shuffle pixel_unshuffle repeat repeat_interleave rot90 row_stack select_copy
        slice_copy squeeze_copy stack sum_to_size sym_sum t_copy tile transpose_copy trapezoid trapz unfold_copy unique
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
        imag mH mT moveaxis movedim narrow permute ravel real reshape reshape_as resize resize_as select slice_inverse
        squeeze swapaxes swapdims t transpose unflatten unfold unsqueeze view view_as view_as_complex view_as_real
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
    **_rows(Op(Saved.INPUT), "sparse.sum"),
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
    **_rows(Op(Saved.INPUT_RESULT, Shape.SAME), "sparse.log_softmax sparse.softmax"),
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
    **_rows(
        Op(Saved.OPERANDS),
        """
        conv_tbc cosine_similarity gather grid_sample grid_sampler grid_sampler_2d grid_sampler_3d masked_select
        sparse.addmm sparse.mm sparse.sampled_addmm stft take
        """,
    ),
    **_rows(Op(Saved.OPERANDS, outputs=2), "gru rnn_relu rnn_tanh"),
    **_rows(Op(Saved.OPERANDS_RESULT, outputs=3), "lstm"),
    **_rows(Op(Saved.OPERANDS, outputs=3), "native_layer_norm"),
    **_rows(Op(Saved.OPERANDS, outputs=3, addends=(2,)), "native_batch_norm native_group_norm"),
    **_rows(Op(Saved.OPERANDS, addends=(0,)), "istft"),
    **_rows(
        Op(Saved.OPERANDS, addends=(2,)),
        "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution mkldnn_convolution",
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
        """
        bmm chain_matmul dsmm einsum ger gru_cell inner linalg.multi_dot linalg.vecdot matmul mm mv outer spmm tensordot
        """,
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
    **_rows(Op(Saved.OPERANDS, addends=(0,)), "sparse_mask"),
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
    **_rows(Op(Saved.OPAQUE), "fake_quantize_per_channel_affine fake_quantize_per_tensor_affine values"),
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


class Variant(NamedTuple):
    """What is saved instead when an argument, by name or by place, has one of some values."""

    keyword: str
    at: int
    values: tuple[object, ...]
    saved: Saved
    types: type | tuple[type, ...] = str


_ONE: tuple[object, ...] = (1, (1,), (1, 1), (1, 1, 1))
_RESIZED = (Variant("mode", 3, ("area",), Saved.INPUT),)

VARIANTS: dict[str, tuple[Variant, ...]] = {
    "pad": (
        Variant("mode", 2, ("reflect", "replicate"), Saved.INPUT),
        Variant("mode", 2, ("circular",), Saved.OPAQUE),
    ),
    "interpolate": _RESIZED,
    "upsample": _RESIZED,
    # The mean over everything.
    **{f"adaptive_avg_pool{d}d": (Variant("output_size", 1, _ONE, Saved.NOTHING, (int, tuple)),) for d in (1, 2, 3)},
    **dict.fromkeys(
        ("alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"),
        (Variant("p", 1, (0,), Saved.NOTHING, (int, float)),),
    ),
}
"""Operations that save something else for some arguments."""

INPLACE_AT: dict[str, int] = {
    **dict.fromkeys(("hardsigmoid", "hardswish", "mish", "relu", "relu6", "selu", "silu"), 1),
    **dict.fromkeys(("celu", "elu", "leaky_relu"), 2),
    **dict.fromkeys(("alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"), 3),
    **dict.fromkeys(("hardtanh", "threshold"), 3),
    "rrelu": 4,
}
"""Where `inplace` stands among the arguments of `torch.nn.functional.NAME`, the input being 0."""

VIEWS: frozenset[str] = _names(
    """
    H T __getitem__ adjoint as_strided broadcast_to chunk diagonal expand expand_as mH mT moveaxis movedim narrow
    permute select split squeeze swapaxes swapdims t tensor_split transpose unbind unfold unsqueeze view view_as
    """
)
"""Operations whose result always shares memory with the first operand; others of `Op.view` may make a copy."""

NO_DERIVATIVE: frozenset[str] = _names(
    """
    acosh_ arccosh_ arcsinh_ arctanh_ asinh_ atanh_ binomial dequantize detach_copy embedding_renorm_ floor_divide geqrf
    heaviside histogram hspmm linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve native_channel_shuffle
    smm sspaddmm unique unique_consecutive
    """
)
"""Operations whose result has history although backward through it raises "derivative ... is not implemented"."""

INPLACE_EXCEPTIONS: frozenset[str] = _names(
    "as_strided_ detach_ requires_grad_ share_memory_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_"
)
"""Names with an underscore that leave the data alone and return their object; of these only `detach_` drops history."""
