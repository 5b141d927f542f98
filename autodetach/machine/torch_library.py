"""The functions of PyTorch: what is called by a path that is imported, and what that does."""

from __future__ import annotations

from autodetach.machine import foreach, operations, parametrizations, pytree, step_hooks, tensors, transforms
from autodetach.machine.arguments import flatten, has_no_tensor, is_certain_number
from autodetach.machine.autograd_calls import autograd_backward, autograd_grad
from autodetach.machine.called_unseen import register, register_samplers
from autodetach.machine.container_builtins import maker_of
from autodetach.machine.core import Core, Handler
from autodetach.machine.distributions import distribution, of_distributions
from autodetach.machine.functional_calls import functional_call
from autodetach.machine.grad_modes import GRAD_MODES, make_grad_mode
from autodetach.machine.graph import Site
from autodetach.machine.library_objects import of_torch
from autodetach.machine.marks import TENSORS
from autodetach.machine.module_building import build_module
from autodetach.machine.module_tree import MADE_BUFFER
from autodetach.machine.number_places import handed
from autodetach.machine.number_readers import SCRIPTED, asked_for_type, wanted
from autodetach.machine.opened import context_of
from autodetach.machine.optimizers import build_optimizer
from autodetach.machine.other_libraries import WRAPPERS, call_other
from autodetach.machine.parameter_groups import clip
from autodetach.machine.program_values import External, Function, Instance
from autodetach.machine.state import MISSING
from autodetach.machine.steering import SEEDING, computed_with
from autodetach.machine.taken_early import note_tested
from autodetach.machine.tensor_factories import TENSOR_CLASSES, factory, variable
from autodetach.machine.torch_semantics import (
    ACCEPTS_NUMBERS,
    ALIKE_INITS,
    FACTORIES,
    MODULES,
    OPS,
    TENSOR_ATTRIBUTES,
)
from autodetach.machine.values import Opaque, Sequence, Tensor, Value

COLLECTIVES = frozenset(
    "all_gather all_gather_into_tensor all_reduce all_to_all all_to_all_single broadcast irecv recv reduce "
    "reduce_scatter reduce_scatter_tensor scatter".split()
)
"""Functions of `torch.distributed` that write to their first argument."""
OF_TENSORS = tuple(
    f"{name}." for name in "_C fft functional linalg masked nested nn.functional ops sparse special".split()
)
"""Where functions make tensors of tensors; those of `torch.nn.parallel` or `torch.fx` may make anything."""
TRAINING = ("distributions.", "nn.", "optim.")
"""Where what is made, or done, is for training."""


# ---- calls of library functions


def call(m: Core, path: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """Call a function of PyTorch, or of another library, by its dotted path."""
    part = of_torch(path)
    if part is None:
        return call_other(m, path, args, kwargs, site)
    name = part.rpartition(".")[2]
    if name in SEEDING:
        computed_with(m, [*args, *kwargs.values()], site)
    if part.startswith("utils.data."):
        computed_with(m, [*args, *kwargs.values()], site)
        register_samplers(m, [*args, *kwargs.values()], site)
    handler = HANDLERS.get(part) or HANDLERS.get(name)
    if handler is None and part in transforms.HANDLERS:
        handler = transforms.HANDLERS[part]
        wanted(m, [*args, *kwargs.values()], site, name)
    if handler is not None:
        return handler(m, args, kwargs, site)
    if name.startswith(foreach.PREFIX):
        wanted(m, args[:1], site, name)
        if name.endswith("_"):
            computed_with(m, args[1:], site)
        return foreach.call(m, name, args, kwargs, site)
    if _takes_tensors(part, name):
        wanted(m, [*args, *kwargs.values()], site, name)
    if part.startswith(TRAINING):
        computed_with(m, [*args, *kwargs.values()], site)
    if name in GRAD_MODES:
        return make_grad_mode(m, name, args, kwargs)
    if part.startswith("nn.init."):
        if name not in ALIKE_INITS:
            m.note_random(site)
        if args and isinstance(args[0], Tensor) and name.endswith("_"):
            m.change_in_place(args[0], site)
        return args[0] if args else m.fresh("number")
    if part.startswith("autograd.functional."):
        return transforms.of_autograd_functional(m, args, kwargs, site)
    if part.startswith("Tensor.") and args and isinstance(args[0], (Tensor, Opaque)):
        return tensors.unbound(m, name, args, kwargs, site)
    if part.startswith("nn.utils."):
        return _nn_utils(m, part, args, kwargs, site)
    if part.startswith("nn.") and name in MODULES:
        return build_module(m, name, args, kwargs, site)
    if part.startswith("optim.lr_scheduler."):
        register(m, [*args, *kwargs.values()], site)
        return m.opaque(name)
    if part.startswith("optim.") and name[:1].isupper():
        return build_optimizer(m, path, args, kwargs, site)
    if name in step_hooks.OF_ALL and (args or kwargs):
        return step_hooks.register(m, None, step_hooks.OF_ALL[name], [*args, *kwargs.values()][0])
    if part.startswith("distributions."):
        is_class = name[:1].isupper()
        return distribution(m, path, args, kwargs, site) if is_class else of_distributions(m, name, args, site)
    if name in WRAPPERS and args:
        if part == "jit.script" and isinstance(args[0], Function):
            args[0].attrs[SCRIPTED] = True
        return args[0]
    if name in FACTORIES or name in TENSOR_CLASSES:
        return factory(m, name, args, kwargs, site)
    if part.startswith("utils.") and name.startswith("tree_"):
        return m.call_unknown(name, args, kwargs, site)
    if part.startswith(("cuda.", "backends.", "random.", "hub.", "version.", "utils.", "distributed.", "profiler.")):
        return _machinery(m, part, name, args, kwargs, site)
    if name == "save":
        wanted(m, args[:1], site, name)
    if name in SEEDING or name in ("set_default_dtype", "set_printoptions", "save", "set_num_threads", "compile"):
        return None
    if part == "Size" and (not args or isinstance(args[0], Sequence)):
        return maker_of("tuple")(m, args, kwargs, site)
    if name[:1].isupper():
        return m.opaque(name)
    if "." in part and part not in OPS and not part.startswith(OF_TENSORS):
        return m.call_unknown(name, args, kwargs, site)
    return torch_function(m, part, name, args, kwargs, site)


def _takes_tensors(part: str, name: str) -> bool:
    """Whether what is called takes tensors as they are, to hold, train or differentiate them: of numbers it raises."""
    if part.startswith("distributions.") or name in TENSOR_CLASSES or part == "Size":
        return False
    return name[:1].isupper() or name in WRAPPERS or part.startswith(("nn.init.", "autograd.functional.", "cuda."))


TELLING = frozenset("device dtype finfo iinfo is_tensor is_grad_enabled".split())
"""Functions that tell something, and not of what is computed with."""
LISTS = frozenset("cat concat concatenate stack hstack vstack dstack row_stack column_stack".split())
"""Functions of a list of tensors."""


def torch_function(m: Core, part: str, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    prefixed = part if part in OPS else name
    first = args[0] if args else kwargs.get("input", kwargs.get("tensors"))
    if name not in TELLING:
        handed(m, name, args, kwargs, site)
    if name not in ACCEPTS_NUMBERS and is_certain_number(first) and (name in OPS or name in TENSOR_ATTRIBUTES):
        m.refuse(site, f"`torch.{part}` of a number", "TypeError")
    if (name in LISTS and has_no_tensor(first)) or (name == "einsum" and any(map(is_certain_number, args[1:]))):
        m.refuse(site, f"`torch.{part}` of what is no tensor", "TypeError")
    if name in LISTS and isinstance(first, Sequence) and first.exact and not first.items and not m.widening:
        m.type_fault(site, f"`torch.{part}` of no tensor", "empty")
    if name in ("device", "dtype", "finfo", "iinfo"):
        return m.opaque(name)
    if name in ("is_tensor", "is_floating_point", "is_grad_enabled", "allclose", "equal", "numel"):
        if name == "is_tensor":
            asked_for_type(m, first, site)
            note_tested(m, first, site, sure=True)
            return isinstance(first, Tensor) or (m.fresh("bool") if isinstance(first, Opaque) else False)
        if name == "is_grad_enabled":
            return m.grad_enabled
        if name == "is_floating_point" and isinstance(first, Tensor):
            return tensors.is_floating(m, first)
        if name == "numel" and isinstance(first, Tensor):
            return tensors.method(m, first, name, [], {}, site)
        return m.fresh("bool" if name != "numel" else "number")
    return operations.operation(m, prefixed, args, kwargs, site)


def _machinery(m: Core, part: str, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    if part.startswith(("distributed.", "utils.")):
        wanted(m, [*args, *kwargs.values()], site, name)
    if part.startswith("distributed.") and name in COLLECTIVES and args:
        for written in flatten(args[:1]):
            if isinstance(written, Tensor):
                m.change_in_place(written, site)
        return m.opaque(name)
    if name.startswith("is_") or name.endswith("available"):
        return m.sym(("torch", part), "bool")
    if name.startswith(("memory", "max_memory", "device_count", "get_rank", "get_world_size")):
        return m.fresh("number", lo=0)
    return m.opaque(name)


# ---- single functions


def _parameter(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    value = args[0] if args else kwargs.get("data")
    wanted(m, [value], site, "Parameter")
    result = tensors.plain(value.shape if isinstance(value, Tensor) else None, True)
    result.parameter = True
    result.born = m.clock
    wants = kwargs.get("requires_grad", args[1] if len(args) > 1 else True)
    if wants is not False:
        m.require_grad(result, site)
    return result


def _buffer(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    wanted(m, args[:1] or [kwargs.get("data")], site, "Buffer")
    made = m.opaque("Buffer")
    made.attrs[MADE_BUFFER] = True
    return made


def _nn_utils(m: Core, part: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    name = part.rpartition(".")[2]
    wanted(m, args[:1] or list(kwargs.values()), site, name)
    if part == "nn.utils.parametrize.cached":
        return context_of(m, parametrizations.CACHED)
    if name.startswith("clip_grad"):
        return clip(m, name, args[0] if args else kwargs.get("parameters"), site)
    if name == "get_total_norm":
        m.scaled.append(m.clock)
        return tensors.plain((), True)
    if name.startswith(("rnn.", "pack", "pad", "unpad")):
        return m.unknown_result(name, args, site)
    from autodetach.machine.weight_tools import call_weight_tool

    made = call_weight_tool(m, part, args, kwargs, site)
    if made is not MISSING:
        return made
    wanted(m, args[1:], site, name)
    return m.opaque(name)


def _data_parallel(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`data_parallel(module, inputs)`: the module is called with parts of the inputs, of which one stands for all."""
    inputs = args[1] if len(args) > 1 else kwargs.get("inputs")
    values = inputs.items if isinstance(inputs, Sequence) and inputs.kind == "tuple" else [inputs]
    module = args[0] if args else kwargs.get("module", m.opaque("module"))
    return m.call(module, list(values), {}, site)


def _data_loader(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    made = Instance(External("torch.utils.data.DataLoader"), m.serial(), m.clock)
    made.attrs["dataset"] = args[0] if args else kwargs.get("dataset")
    wanted(m, [made.attrs["dataset"]], site, "DataLoader")
    made.attrs["collate_fn"] = kwargs.get("collate_fn")
    register(m, [kwargs.get("worker_init_fn")], site)
    made.attrs["batch_size"] = kwargs.get("batch_size", args[1] if len(args) > 1 else 1)
    return made


def _tensor_dataset(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    made = Instance(External("torch.utils.data.TensorDataset"), m.serial(), m.clock)
    made.attrs[TENSORS] = Sequence("tuple", list(args), m.clock)
    wanted(m, args, site, "TensorDataset")
    return made


def _scaler(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    return Instance(External("torch.amp.GradScaler"), m.serial(), m.clock)


def _autocast(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    return m.opaque("autocast")


HANDLERS: dict[str, Handler] = {
    "autograd.backward": autograd_backward,
    "autograd.grad": autograd_grad,
    "autograd.Variable": variable,
    "nn.Parameter": _parameter,
    "nn.parameter.Parameter": _parameter,
    "nn.Buffer": _buffer,
    "nn.parameter.Buffer": _buffer,
    "func.functional_call": functional_call,
    "nn.utils.stateless.functional_call": functional_call,
    "nn.parallel.data_parallel": _data_parallel,
    "nn.parallel.data_parallel.data_parallel": _data_parallel,
    "utils.data.DataLoader": _data_loader,
    "utils.data.dataloader.DataLoader": _data_loader,
    "utils.data.TensorDataset": _tensor_dataset,
    "amp.GradScaler": _scaler,
    "cuda.amp.GradScaler": _scaler,
    "amp.grad_scaler.GradScaler": _scaler,
    "autocast": _autocast,
    **pytree.HANDLERS,
}
