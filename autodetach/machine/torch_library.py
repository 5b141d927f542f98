"""The functions of PyTorch, and what is taken of libraries that are not known."""

from __future__ import annotations

import ast

from autodetach.machine import (
    dtypes,
    foreach,
    frameworks,
    operations,
    parametrizations,
    progress_bars,
    pytree,
    step_hooks,
    tensors,
    transforms,
    weight_norms,
)
from autodetach.machine.arguments import flatten, has_no_tensor, is_certain_number, spreads_unknown, written_at
from autodetach.machine.autograd_calls import autograd_backward, autograd_grad
from autodetach.machine.by_place import by_place
from autodetach.machine.classes import decorate
from autodetach.machine.container_builtins import maker_of
from autodetach.machine.core import Core, Handler, tags_in
from autodetach.machine.distributions import distribution, of_distributions
from autodetach.machine.events import WeightNormed
from autodetach.machine.exceptions import is_ready_for
from autodetach.machine.graph import Site
from autodetach.machine.handed_networks import note_networks
from autodetach.machine.held import lost_by_arrays, lost_by_copy, tensors_in
from autodetach.machine.implicit_calls import show
from autodetach.machine.lent import note_lent
from autodetach.machine.library_objects import of_torch
from autodetach.machine.log_records import logged
from autodetach.machine.marks import HELD, LEFT_OUT, TENSORS
from autodetach.machine.module_building import build_module
from autodetach.machine.module_tree import is_module, parameters_of
from autodetach.machine.number_places import handed
from autodetach.machine.number_readers import SCRIPTED, asked_for_type, of_sums, truth_of_sums, wanted
from autodetach.machine.opened import context_of
from autodetach.machine.optimizers import build_optimizer
from autodetach.machine.other_types import made_of
from autodetach.machine.parameter_groups import clip, leaves_of
from autodetach.machine.program_values import External, Function, Instance
from autodetach.machine.quiet import COMPUTING, QUIET_MODULES, REPORTS
from autodetach.machine.shapes import shape_of_arguments, shape_of_data, shape_of_old_type
from autodetach.machine.state import MISSING
from autodetach.machine.taken_early import note_tested
from autodetach.machine.told_of_values import is_number
from autodetach.machine.torch_semantics import (
    ACCEPTS_NUMBERS,
    ALIKE_INITS,
    FACTORIES,
    MODULES,
    OPS,
    RANDOM,
    TENSOR_ATTRIBUTES,
    Op,
    Saved,
)
from autodetach.machine.values import GradMode, Opaque, Sequence, Tensor, Value

GRAD_MODES = {
    "no_grad": False, "enable_grad": True, "inference_mode": False, "set_grad_enabled": True, "_set_grad_enabled": True,
}  # fmt: skip
WRAPPERS = frozenset(
    "DataParallel DistributedDataParallel DDP FullyShardedDataParallel compile script trace checkpoint_wrapper".split()
)
REPARAMETRISES = frozenset(
    "orthogonal remove_parametrizations remove_spectral_norm spectral_norm weight_norm".split()
)
KEPT_WEIGHTS = frozenset({"spectral_norm", "weight_norm"})
"""By what a layer keeps a weight with its graph from one call to the next."""
PICKLED = frozenset({"pickle.load", "pickle.loads"})
"""What gives back an object of any kind, a network too."""
WRITERS = frozenset(f"{module}.{name}" for module in ("pickle", "joblib", "yaml", "dill") for name in ("dump", "dumps"))
"""What is written by these is read again as what it was."""
TELLING_TRUTH = frozenset({"allclose", "array_equal", "isclose", "isfinite", "isinf", "isnan"})
"""Functions of numpy that give True or False of numbers."""
OF_NUMBERS = frozenset({"csv", "decimal", "fractions", "json", "statistics", "yaml"})
"""Libraries that refuse tensors, or write something else for them."""
TO_TEXT = frozenset({"dump", "dumps"})
"""What writes numbers, as `json.dumps`, and raises a `TypeError` for tensors."""
HANDING_ON = frozenset({"contextlib", "functools", "itertools", "operator"})
"""Modules whose functions give tensors back as they get them."""
HOLDERS = frozenset({"collections", "types"})
"""Modules of which a class holds what it is given: `ChainMap`, `UserDict`, `MappingProxyType`."""
ASKED_ABOUT_TYPES = frozenset({"default", "cls", "encoder", "object_hook"})
"""Arguments by which `json.dumps` is told what to do with values that it does not know."""
COLLECTIVES = frozenset(
    "all_gather all_gather_into_tensor all_reduce all_to_all all_to_all_single broadcast irecv recv reduce "
    "reduce_scatter reduce_scatter_tensor scatter".split()
)
"""Functions of `torch.distributed` that write to their first argument."""
OF_TENSORS = tuple(
    f"{name}." for name in "_C fft functional linalg masked nested nn.functional ops sparse special".split()
)
"""Where functions make tensors of tensors; those of `torch.nn.parallel` or `torch.fx` may make anything."""
TENSOR_CLASSES = frozenset(
    "Tensor FloatTensor DoubleTensor LongTensor IntTensor ByteTensor BoolTensor HalfTensor".split()
)

OF_VALUES = frozenset({"tensor", "as_tensor", "asarray", "scalar_tensor", "from_numpy"})
"""What makes a tensor of the values that it is given."""


def grad_mode_of(path: str) -> bool | None:
    """The mode that `torch.no_grad` and its kin set, by their path."""
    return GRAD_MODES.get(path.rpartition(".")[2]) if path.startswith("torch.") else None


# ---- calls of library functions


def call(m: Core, path: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """Call a function of PyTorch, or of another library, by its dotted path."""
    part = of_torch(path)
    if part is None:
        return call_other(m, path, args, kwargs, site)
    name = part.rpartition(".")[2]
    handler = HANDLERS.get(part) or HANDLERS.get(name)
    if handler is None and part in transforms.HANDLERS:
        handler = transforms.HANDLERS[part]
        wanted(m, [*args, *kwargs.values()], site, name)
    if handler is not None:
        return handler(m, args, kwargs, site)
    if name.startswith(foreach.PREFIX):
        wanted(m, args[:1], site, name)
        return foreach.call(m, name, args, kwargs, site)
    if _takes_tensors(part, name):
        wanted(m, [*args, *kwargs.values()], site, name)
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
    if name in ("manual_seed", "seed", "set_default_dtype", "set_printoptions", "save", "set_num_threads", "compile"):
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


def call_other(m: Core, path: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """A library that is not PyTorch."""
    name = path.rpartition(".")[2]
    top = path.lstrip(".").partition(".")[0]
    if path.startswith(("random.", "numpy.random.")):
        m.note_random(site)
    known = frameworks.HANDLERS.get(path)
    if known is not None:
        return known(m, args, kwargs, site)
    if (name in REPORTS and top not in COMPUTING) or top in ("logging", "warnings"):
        if top not in QUIET_MODULES:
            note_lent(m, [*args, *kwargs.values()])
        show(m, [*args, *kwargs.values()], site)
        logged(m, name, args, kwargs, site)
        return m.opaque(name) if name[:1].isupper() or name.startswith("get") else m.quiet(name)
    if top in OF_NUMBERS:
        m.only_numbers |= {tag for value in (*args, *kwargs.values()) for tag in tags_in(value)}
    tells = path in WRITERS or (name in TO_TEXT and is_ready_for(m.trail, "TypeError"))
    if tells or not kwargs.keys().isdisjoint(ASKED_ABOUT_TYPES):
        wanted(m, [*args, *kwargs.values()], site, name)
    if path in PICKLED:
        return m.opaque(name)
    bar = progress_bars.call(m, name, args, kwargs, site)
    if bar is not MISSING:
        return bar
    if top in QUIET_MODULES:
        if top in HANDING_ON or (top in HOLDERS and name[:1].isupper()):
            wanted(m, [*args, *kwargs.values()], site, name)
        if name[:1].isupper():
            return m.quiet(name)
        if name in progress_bars.BARS:
            return progress_bars.empty_bar(m, name)
        number = m.fresh(tags=truth_of_sums(args) if name in TELLING_TRUTH else of_sums(args))
        number.lost = lost_by_arrays(*(each for a in args for each in tensors_in(a)))
        return number
    if name == "Variable" and args:
        return _variable(m, args, kwargs, site)
    is_left_out = path.rpartition(".")[0] in m.left_out
    if name[:1].isupper():
        held = [*args, *kwargs.values()]
        leaves = [leaf for v in held for leaf in leaves_of(m, v, site)]
        if leaves and not any(isinstance(v, Instance) and is_module(v) for v in held):
            return build_optimizer(m, path, args, kwargs, site)
        m.escape(held, site, name)
        if name not in WRAPPERS:
            note_networks(m, held, name)
        for value in held:
            if isinstance(value, Instance) and is_module(value) and name in WRAPPERS:
                return value
        made = m.opaque(name)
        made.attrs[HELD] = Sequence("tuple", held, m.clock)
        if is_left_out:
            made.attrs[LEFT_OUT] = True
        return made
    if is_left_out:
        note_networks(m, [*args, *kwargs.values()], name)
        return m.call_left_out(name, [*args, *kwargs.values()], site)
    return m.call_unknown(name, args, kwargs, site)


# ---- tensors from nothing


def factory(m: Core, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """A new tensor without history, as `torch.zeros(3)` makes one, or a leaf where it is to require grad."""
    args, kwargs = by_place(name, args, kwargs)
    if name in RANDOM:
        m.note_random(site)
    if name in ("as_tensor", "asarray") and args and isinstance(args[0], Tensor):
        return args[0]
    handed(m, name, args, kwargs, site)
    first = args[0] if args else None
    is_float: bool | None = None
    if name in OF_VALUES:
        # What stands in a container may have been replaced under a key that nobody knows.
        shape = None if isinstance(written_at(site, 0), ast.Subscript) and is_number(first) else shape_of_data(first)
        if name not in ("from_numpy", "scalar_tensor") and kwargs.get("dtype") is None:
            made_of(m, args[:1], site)
        number = first
        while isinstance(number, Sequence) and number.items:
            number = number.items[0]
        is_float = True if isinstance(number, float) else False if isinstance(number, int) else None
    elif name.endswith("_like") and isinstance(first, Tensor):
        shape, is_float = first.shape, True if name.startswith("randn") else first.is_float
    elif name == "full":
        shape = shape_of_arguments([kwargs["size"]] if "size" in kwargs else args[:1])
    elif name in ("randint",):
        size = kwargs.get("size", args[-1] if args else None)
        shape, is_float = shape_of_arguments([size]) if size is not None else None, False
    elif name in ("arange", "randperm", "range"):
        shape, is_float = ((first,) if len(args) == 1 and isinstance(first, int) else (None,)), False
        if any(isinstance(a, float) for a in args):
            is_float = True
    elif name in ("linspace", "logspace"):
        count = args[2] if len(args) > 2 else kwargs.get("steps", 100)
        shape, is_float = (count if isinstance(count, int) else None,), True
    elif name == "normal":
        size = kwargs.get("size", args[2] if len(args) > 2 else None)
        shape, is_float = shape_of_arguments([size]) if size is not None else None, True
    elif name == "eye":
        shape, is_float = (first, first) if isinstance(first, int) else None, True
    else:
        size = kwargs.get("size")
        sizes = [size] if size is not None else args
        if name in TENSOR_CLASSES and size is None:
            shape = shape_of_old_type(args)
        else:
            shape = shape_of_arguments(sizes) if sizes and not name.endswith("_indices") else None
        written = written_at(site, 0)
        if isinstance(written, ast.List) and not written.elts:
            shape = (0,) if name in TENSOR_CLASSES else ()
        if spreads_unknown(site):
            shape = None
        is_float = name in ("rand", "randn", "zeros", "ones", "empty") or None
    if kwargs.get("dtype") is not None:
        is_float = dtypes.is_floating(kwargs["dtype"])
    result = Tensor(None, shape, is_float)
    result.born = m.clock
    if name in TENSOR_CLASSES or name in OF_VALUES:
        result.lost = lost_by_copy(first, site)
    wants = kwargs.get("requires_grad", False)
    if wants is not False and m.truth(wants, site, default=False):
        m.require_grad(result, site)
    return result


def make_grad_mode(m: Core, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    mode = GradMode(GRAD_MODES[name])
    if name in ("set_grad_enabled", "_set_grad_enabled") or (name == "inference_mode" and (args or kwargs)):
        value = args[0] if args else next(iter(kwargs.values()), True)
        enabled = value if not isinstance(value, int) else bool(value)
        if name == "inference_mode":
            mode.enabled = not enabled if isinstance(enabled, bool) else False
            return mode
        mode.enabled = enabled
        mode.previous.append(m.grad_enabled)
        if isinstance(enabled, bool):
            m.grad_enabled = enabled
    elif args and isinstance(args[0], Function):
        return decorate(mode, args[0])
    return mode


# ---- single functions


def _variable(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`Variable(x)` is `x.detach()`, and with `requires_grad=True` a new leaf, since PyTorch 0.4."""
    value = args[0] if args else kwargs.get("data")
    wanted(m, [value], site, "Variable")
    wants = kwargs.get("requires_grad", args[1] if len(args) > 1 else False)
    if not isinstance(value, (Tensor, Opaque)):
        return value
    if wants is True and isinstance(value, Opaque):
        return m.leaf(site)
    result = m.call_method(value, "detach", [], {}, site)
    return m.require_grad(result, site) if wants is True and isinstance(result, Tensor) else result


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


def _nn_utils(m: Core, part: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    name = part.rpartition(".")[2]
    wanted(m, args[:1] or list(kwargs.values()), site, name)
    if name == "register_parametrization":
        return parametrizations.register(m, args, kwargs, site)
    if part == "nn.utils.parametrize.cached":
        return context_of(m, parametrizations.CACHED)
    if name.startswith("clip_grad"):
        return clip(m, name, args[0] if args else kwargs.get("parameters"), site)
    if name == "get_total_norm":
        m.scaled.append(m.clock)
        return tensors.plain((), True)
    if name.startswith(("rnn.", "pack", "pad", "unpad")):
        return m.unknown_result(name, args, site)
    if name in KEPT_WEIGHTS and not part.startswith("nn.utils.parametriz"):
        m.restraints.append(WeightNormed(site))
    if part.startswith("nn.utils.weight_norm") and name == "weight_norm":
        return weight_norms.norm(m, args, kwargs, site)
    if name == "remove_weight_norm":
        return weight_norms.remove(m, args, kwargs, site)
    if name in REPARAMETRISES and args:
        return args[0]
    wanted(m, args[1:], site, name)
    return m.opaque(name)


def _functional_call(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`torch.func.functional_call(module, params, args)`: the module with other parameters."""
    wanted(m, [*args, *kwargs.values()], site, "functional_call")
    params = args[1] if len(args) > 1 else None
    given = args[2] if len(args) > 2 else kwargs.get("args")
    values: list[Value] = list(given.items) if isinstance(given, Sequence) else [given]
    module = args[0] if args else None
    weights = flatten([params])
    if isinstance(module, Instance):
        names = {id(p): w for p, w in zip(parameters_of(module), weights, strict=False)}
        if names and all(isinstance(w, Tensor) for w in names.values()):
            return _with_parameters(m, module, weights, values, kwargs, site)
    return m.derive("functional_call", Op(Saved.OPERANDS), flatten([*values, *weights]), site)


def _with_parameters(
    m: Core, module: Instance, weights: list[Value], values: list[Value], kwargs: dict[str, Value], site: Site
) -> Value:
    kept = [(p, p.node, p.storage) for p in parameters_of(module)]
    for (p, _, _), w in zip(kept, weights, strict=False):
        if isinstance(w, Tensor):
            p.node, p.storage = w.node, w.storage
    try:
        return m.call(module, values, kwargs.get("kwargs", {}) if isinstance(kwargs.get("kwargs"), dict) else {}, site)
    finally:
        for p, node, storage in kept:
            p.node, p.storage = node, storage


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
    "autograd.Variable": _variable,
    "nn.Parameter": _parameter,
    "nn.parameter.Parameter": _parameter,
    "func.functional_call": _functional_call,
    "nn.utils.stateless.functional_call": _functional_call,
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
