"""The installed PyTorch, name by name: what has no row follows the default, and what cannot be tried is named."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from measured_modules import run_module
from measured_operations import (
    Measured,
    arguments,
    backward,
    measure,
    run,
    sample_of,
    second_backward_raises,
    tensors_in,
)
from operation_samples import (
    BATCH,
    COMPLEX,
    IMAGE,
    INDEX,
    INTEGERS,
    MASK,
    NAMESPACES,
    PREFIXES,
    SIGNAL,
    SPARSE,
    SPD,
    VOLUME,
    M,
    Sample,
    V,
)
from torch import Tensor, nn

from autodetach.machine import torch_semantics as table
from autodetach.machine.torch_semantics import OPS, lookup, of_arguments, unpacked

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

# ---- every callable


def callables() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """(prefix, name, function) for all that is public; classes are no functions."""
    spaces: dict[str, Any] = {**NAMESPACES, **PREFIXES}
    for space, module in spaces.items():
        for name in dir(module):
            member = getattr(module, name)
            private = name.startswith("_") or isinstance(member, (type, ModuleType))
            if callable(member) and not private and getattr(member, "__module__", "") != "typing":
                yield space, name, member


def classified(space: str, name: str) -> bool:
    """Whether a table speaks of a name, or of the one that it is the in-place form of."""
    dotted = name if space in NAMESPACES else f"{space}.{name}"
    names = {dotted, name, name.rstrip("_")}
    kinds = (OPS, table.INPLACE_EXCEPTIONS, table.NUMBER_METHODS, table.EFFECTS, table.FACTORIES)
    return any(names & kind.keys() if isinstance(kind, dict) else names & kind for kind in kinds)


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STATE = "reads or changes the state of the library"
NO_OPERATION = "takes no tensors, or makes none of them"
BACKEND = "of another device or number format: refuses tensors of the CPU that require grad"
REMOVED = "removed from PyTorch: always raises"
NO_BACKWARD = "backward through it always raises"
FUNCTIONS = "is given functions"
NOT_TRIED: dict[str, frozenset[str]] = {
    STATE: words(
        """
        are_deterministic_algorithms_enabled autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache
        fork get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype get_autocast_ipu_dtype
        get_autocast_xla_dtype get_default_device get_default_dtype get_deterministic_debug_mode get_device_module
        get_file_path get_float32_matmul_precision get_num_interop_threads get_num_threads get_rng_state
        init_num_threads initial_seed is_anomaly_check_nan_enabled is_anomaly_enabled is_autocast_cache_enabled
        is_autocast_cpu_enabled is_autocast_enabled is_autocast_ipu_enabled is_autocast_xla_enabled
        is_deterministic_algorithms_warn_only_enabled is_grad_enabled is_inference_mode_enabled is_vulkan_available
        is_warn_always_enabled load manual_seed prepare_multiprocessing_environment
        profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 save seed set_anomaly_enabled set_autocast_cache_enabled
        set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype
        set_autocast_ipu_dtype set_autocast_ipu_enabled set_autocast_xla_dtype set_autocast_xla_enabled
        set_default_device set_default_dtype set_default_tensor_type set_deterministic_debug_mode
        set_float32_matmul_precision set_flush_denormal set_num_interop_threads set_num_threads set_printoptions
        set_rng_state set_warn_always thread_safe_generator use_deterministic_algorithms wait
        """
    ),
    NO_OPERATION: words(
        """
        as_sparse_gradcheck assert_int_or_pair boolean_dispatch broadcast_shapes can_cast classproperty
        compiled_with_cxx11_abi cudnn_is_acceptable from_dlpack handle_torch_function has_torch_function
        has_torch_function_unary has_torch_function_variadic import_ir_module import_ir_module_from_buffer is_storage
        is_tensor merge_type_from_type_comment parse_ir parse_schema parse_type_comment promote_types result_type
        spdiags sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_csc_tensor sparse_csr_tensor
        sym_constrain_range sym_constrain_range_for_size sym_float sym_fresh_size sym_int sym_ite sym_max sym_min
        sym_not sym_sqrt to_dlpack typename unify_type_list
        """
    ),
    BACKEND: words(
        """
        batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats
        batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats choose_qparams_optimized
        cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution cudnn_convolution_add_relu
        cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler empty_quantized
        fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
        fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight fbgemm_pack_gemm_matrix_fp16
        fbgemm_pack_quantized_matrix fused_moving_avg_obs_fake_quant grouped_mm int_repr miopen_batch_norm
        miopen_convolution miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose
        miopen_ctc_loss miopen_depthwise_convolution miopen_rnn mkldnn_adaptive_avg_pool2d
        mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_rnn_layer native_norm
        q_per_channel_scales q_per_channel_zero_points quantize_per_channel quantize_per_tensor
        quantize_per_tensor_dynamic quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm
        quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell
        quantized_rnn_tanh_cell scaled_grouped_mm scaled_mm spsolve to_mkldnn to_sparse_semi_structured
        """
    ),
    "parts of a sparse or nested tensor": words(
        """
        ccol_indices ccol_indices_copy col_indices col_indices_copy crow_indices crow_indices_copy hsmm indices
        indices_copy row_indices row_indices_copy saddmm to_padded_tensor values_copy
        """
    ),
    "refuses tensors that require grad": words(
        """
        resize_as_sparse_ set_ sparse_resize_ sparse_resize_and_clear_ view_as_complex_copy
        """
    ),
    REMOVED: words("eig lstsq matrix_rank solve symeig"),
    NO_BACKWARD: words("histogramdd vander"),
    FUNCTIONS: words("compile cond vmap while_loop"),
}
"""What stands in no table, by the reason. Functions that are given functions are the machine's own business."""

TRIALS = [
    Sample(recipes, {})
    for recipes in (
        (M,), (V,), (M, M), (V, V), (M, M, M), (M, V), (M, 1), (M, 2), (M, 1, 1), (M, INDEX), (M, MASK), (BATCH,),
        (BATCH, BATCH), (SIGNAL,), (IMAGE,), (IMAGE, 2), (IMAGE, IMAGE), (COMPLEX,), (SPD,), (SPD, M), (SPARSE,),
        (SPARSE, M), (INTEGERS,), ([M, M],), ([V, V],),
    )
]  # fmt: skip
"""Arguments that many functions take."""


def test_every_callable_stands_in_a_table_or_is_named() -> None:
    rest = {name for space, name, _ in callables() if not classified(space, name)}
    named = [name for names in NOT_TRIED.values() for name in names]
    assert len(named) == len(set(named))
    assert rest - {"Optional", "Union"} == set(named)


def test_there_is_much_to_enumerate() -> None:
    """The enumeration finds what it should: more than a thousand functions, methods and modules."""
    found = list(callables())
    assert len(found) > 1400
    assert sum(classified(space, name) for space, name, _ in found) > 1200


REASONS = {name: reason for reason, names in NOT_TRIED.items() for name in names}


def unnamed_calls() -> Iterator[Any]:
    for space, name, function in callables():
        if REASONS.get(name, STATE) not in (STATE, FUNCTIONS) and not classified(space, name):
            yield pytest.param(function, id=f"{space}.{name}")


@pytest.mark.parametrize("function", list(unnamed_calls()))
def test_what_is_not_tried_could_not_be(function: Callable[..., Any]) -> None:
    """With none of the usual arguments it makes a tensor through which backward runs: else it needs a row or fits."""
    for sample in TRIALS:
        try:
            operands, value = run(function, sample, [0])
            if not operands[0].requires_grad or not any(t.requires_grad for t in tensors_in(value)):
                continue
            backward(value)
        except (RuntimeError, TypeError, ValueError, AttributeError, BufferError, IndexError, AssertionError):
            continue
        claim = unpacked(lookup(getattr(function, "__name__", "")), [i == 0 for i in range(len(operands))])
        _, value = run(function, sample, [0])
        assert second_backward_raises(value) is claim.raises


def test_default_is_what_most_do() -> None:
    """Of the rows that save anything, the default is the most frequent one that names an operand."""
    kinds = [op.saved for name, op in OPS.items() if op.differentiable and not op.inplace and "." not in name]
    frequent = max(set(kinds) - {table.Saved.NOTHING}, key=kinds.count)
    assert table.DEFAULT.saved is frequent


# ---- what arguments change

VARIED: list[tuple[str, Sample]] = [
    ("pad", Sample((SIGNAL, (1, 1), "reflect"), {})),
    ("pad", Sample((SIGNAL, (1, 1)), {"mode": "replicate"})),
    ("pad", Sample((SIGNAL, (1, 1)), {"mode": "circular"})),
    ("pad", Sample((SIGNAL, (1, 1), "constant"), {})),
    ("interpolate", Sample((IMAGE,), {"scale_factor": 2, "mode": "area"})),
    ("interpolate", Sample((IMAGE,), {"scale_factor": 2, "mode": "bilinear"})),
    ("upsample", Sample((IMAGE, None, 2, "area"), {})),
    ("adaptive_avg_pool1d", Sample((SIGNAL, 1), {})),
    ("adaptive_avg_pool1d", Sample((SIGNAL, 2), {})),
    ("adaptive_avg_pool2d", Sample((IMAGE, 1), {})),
    ("adaptive_avg_pool2d", Sample((IMAGE,), {"output_size": (1, 1)})),
    ("adaptive_avg_pool2d", Sample((IMAGE, (1, 2)), {})),
    ("adaptive_avg_pool3d", Sample((VOLUME, 1), {})),
    ("dropout", Sample((M, 0.0), {})),
    ("dropout", Sample((M,), {"p": 0})),
    ("dropout1d", Sample((SIGNAL, 0.0), {})),
    ("dropout2d", Sample((IMAGE, 0.0), {})),
    ("dropout3d", Sample((IMAGE, 0.0), {})),
    ("alpha_dropout", Sample((M, 0.0, True), {})),
    ("feature_alpha_dropout", Sample((IMAGE, 0.0, True), {})),
]


@pytest.mark.parametrize(("name", "sample"), VARIED)
def test_variants(name: str, sample: Sample) -> None:
    claim = unpacked(of_arguments(name, (None, *sample.args[1:]), sample.kwargs), [True])
    assert measure(getattr(F, name), sample, (0,)) == Measured(claim.raises, claim.operands, claim.result)


def test_every_variant_is_tried() -> None:
    for name, variants in table.VARIANTS.items():
        for variant in variants:
            tried = [s.kwargs.get(variant.keyword, [*s.args, *[None] * 3][variant.at]) for n, s in VARIED if n == name]
            assert any(value in variant.values for value in tried), name


@pytest.mark.parametrize("equation", ["i->", "ij->ji", "ii->i", "ij->j"])
def test_einsum_of_one_tensor_saves_nothing(equation: str) -> None:
    sample = Sample((equation, M if "j" in equation or "ii" in equation else V), {})
    assert measure(torch.einsum, sample, (0,)) == Measured(False, frozenset(), False)


# ---- changes in place by keyword


def test_every_function_with_inplace_is_known() -> None:
    places = {}
    for name in dir(F):
        member = getattr(F, name)
        if not name.startswith("_") and inspect.isfunction(member):
            parameters = list(inspect.signature(member).parameters)
            if "inplace" in parameters:
                places[name] = parameters.index("inplace")
    assert places == table.INPLACE_AT


IGNORE_INPLACE = {"AlphaDropout", "FeatureAlphaDropout"}


def modules() -> dict[str, type[nn.Module]]:
    members = {name: getattr(nn, name) for name in dir(nn)}
    return {n: c for n, c in members.items() if isinstance(c, type) and issubclass(c, nn.Module)}


def test_every_module_with_inplace_is_known() -> None:
    places = {}
    for name, cls in modules().items():
        parameters = list(inspect.signature(cls).parameters)
        if "inplace" in parameters:
            places[name] = parameters.index("inplace")
    assert places.keys() - table.MODULE_INPLACE_AT.keys() == IGNORE_INPLACE
    assert places.items() >= table.MODULE_INPLACE_AT.items()


@pytest.mark.parametrize("name", sorted(IGNORE_INPLACE))
def test_modules_that_ignore_their_inplace(name: str) -> None:
    instance, operands, _ = run_module(name)
    vars(instance)["inplace"] = True
    before = operands[0]._version
    assert instance(operands[0]) is not operands[0]
    assert operands[0]._version == before


@pytest.mark.parametrize("name", sorted(table.MODULE_INPLACE_AT))
def test_modules_in_place_bump_the_version(name: str) -> None:
    instance, operands, _ = run_module(name)
    vars(instance)["inplace"] = True
    tensor = operands[0].clone()
    before = tensor._version
    assert instance(tensor) is tensor
    assert tensor._version > before


def outs() -> Iterator[Any]:
    for space, name, function in callables():
        written = space in ("torch", *PREFIXES) and "out=" in (function.__doc__ or "") and classified(space, name)
        if written and lookup(name if space == "torch" else f"{space}.{name}").differentiable:
            yield pytest.param(space, name, function, id=f"{space}.{name}")


@pytest.mark.parametrize(("space", "name", "function"), list(outs()))
def test_out_bumps_the_version(space: str, name: str, function: Callable[..., Any]) -> None:
    """`torch.add(x, y, out=z)` writes to `z` and returns it."""
    sample = sample_of(space, name if space == "torch" else f"{space}.{name}")
    try:
        _, args, kwargs = arguments(sample)
        value = function(*args, **kwargs)
    except (TypeError, RuntimeError):
        return  # a factory, of which the sample is a method's
    if not isinstance(value, Tensor) or value.layout != torch.strided:
        return
    out = torch.empty_like(value)
    before = out._version
    try:
        returned = function(*args, **kwargs, out=out)
    except (TypeError, RuntimeError, NotImplementedError):
        return  # the documentation speaks of another form
    assert returned is out
    assert not out.requires_grad
    assert (out._version > before) is (name != "kron")


# ---- views


@pytest.mark.parametrize("name", sorted(table.VIEWS))
def test_views_always_share_memory(name: str) -> None:
    assert lookup(name).view
    member = getattr(Tensor, name)
    call = member if callable(member) else None
    sample = sample_of("Tensor", name)
    for turned in (False, True):
        _, args, kwargs = arguments(sample)
        first = args[0].t().contiguous().t() if turned and args[0].dim() == 2 and name not in ("view",) else args[0]
        value = call(first, *args[1:], **kwargs) if call is not None else getattr(first, name)
        for result in tensors_in(value):
            assert result.untyped_storage().data_ptr() == first.untyped_storage().data_ptr()
