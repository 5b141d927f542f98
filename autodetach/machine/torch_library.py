"""PyTorch's functions, modules, optimisers and wrappers, and what is taken of libraries that are not known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from autodetach.machine import tensors
from autodetach.machine.core import MISSING, Core
from autodetach.machine.graph import Site, ancestors
from autodetach.machine.modules import (
    MODULE_METHODS,
    build_module,
    call_builtin_module,
    is_module,
    module_method,
    parameters_of,
    run_hooks,
)
from autodetach.machine.python_library import QUIET_MODULES, REPORTS
from autodetach.machine.torch_semantics import (
    ACCEPTS_NUMBERS,
    FACTORIES,
    MODULES,
    OPS,
    RANDOM,
    TENSOR_ATTRIBUTES,
    Op,
    Saved,
    lookup,
)
from autodetach.machine.values import (
    Class,
    External,
    Function,
    GradMode,
    Instance,
    Iterable,
    Mapping,
    Method,
    Native,
    Opaque,
    Sequence,
    Tensor,
    Value,
    graph_in,
    is_number,
    tensors_in,
)

GRAD_MODES = {"no_grad": False, "enable_grad": True, "inference_mode": False, "set_grad_enabled": True}
WRAPPERS = frozenset(
    "DataParallel DistributedDataParallel DDP FullyShardedDataParallel compile script trace checkpoint_wrapper".split()
)
MODULE_BASES = ("Module", "LightningModule", "PreTrainedModel")
TENSOR_CLASSES = frozenset(
    "Tensor FloatTensor DoubleTensor LongTensor IntTensor ByteTensor BoolTensor HalfTensor".split()
)
DISTRIBUTION_DRAWS = frozenset("sample sample_n".split())
OPTIMIZER_METHODS = frozenset("step zero_grad add_param_group state_dict load_state_dict".split())
MODULE_EVIDENCE = frozenset(
    "parameters named_parameters train eval state_dict load_state_dict modules named_modules children".split()
)
PREPARES = frozenset("prepare setup setup_module configure".split())


def constant(path: str) -> Value:
    """What an imported name stands for."""
    if path in ("math.pi", "numpy.pi", "torch.pi"):
        return 3.141592653589793
    if path in ("math.inf", "numpy.inf", "torch.inf"):
        return float("inf")
    return External(path)


def of_torch(path: str) -> str | None:
    """The part behind `torch.` of a path that belongs to PyTorch."""
    return path[6:] if path.startswith("torch.") else None


def grad_mode_of(path: str) -> bool | None:
    """The mode that `torch.no_grad` and its kin set, by their path."""
    return GRAD_MODES.get(path.rpartition(".")[2]) if path.startswith("torch.") else None


def knows_class(path: str) -> bool:
    """Whether all attributes of a library class are known to the machine."""
    part = of_torch(path)
    return part is not None and (part.startswith(("nn.", "optim.", "utils.data.")) or part == "autograd.Function")


# ---- calls of library functions


def call(m: Core, path: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    part = of_torch(path)
    if part is None:
        return call_other(m, path, args, kwargs, site)
    name = part.rpartition(".")[2]
    handler = HANDLERS.get(part) or HANDLERS.get(name)
    if handler is not None:
        return handler(m, args, kwargs, site)
    if name in GRAD_MODES:
        return make_grad_mode(m, name, args, kwargs)
    if part.startswith(("nn.init.",)):
        return args[0] if args else None
    if part.startswith("nn.utils."):
        return _nn_utils(m, name, args, site)
    if part.startswith("nn.") and name in MODULES:
        return build_module(m, name, args, kwargs, site)
    if part.startswith("optim.lr_scheduler."):
        return m.opaque(name)
    if part.startswith("optim.") and name[:1].isupper():
        return build_optimizer(m, path, args, kwargs, site)
    if part.startswith("distributions.") and name[:1].isupper():
        return _distribution(m, path, args, kwargs)
    if name in WRAPPERS and args:
        return args[0]
    if name in FACTORIES or name in TENSOR_CLASSES:
        return factory(m, name, args, kwargs, site)
    if part.startswith(("cuda.", "backends.", "random.", "hub.", "version.", "utils.", "distributed.", "profiler.")):
        return _machinery(m, part, name, args, kwargs, site)
    if name in ("manual_seed", "seed", "set_default_dtype", "set_printoptions", "save", "set_num_threads", "compile"):
        return None
    if name[:1].isupper():
        return m.opaque(name)
    return torch_function(m, part, name, args, kwargs, site)


def torch_function(m: Core, part: str, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    prefixed = part if part in OPS else name
    first = args[0] if args else kwargs.get("input", kwargs.get("tensors"))
    if name not in ACCEPTS_NUMBERS and tensors.is_certain_number(first) and (name in OPS or name in TENSOR_ATTRIBUTES):
        m.refuse(site, f"`torch.{part}` of a number", "TypeError")
    if name in ("device", "dtype", "finfo", "iinfo", "Size", "Generator"):
        return m.opaque(name)
    if name in ("is_tensor", "is_floating_point", "is_grad_enabled", "allclose", "equal", "numel"):
        if name == "is_tensor":
            return isinstance(first, Tensor) or (m.fresh("bool") if isinstance(first, Opaque) else False)
        if name == "is_grad_enabled":
            return m.grad_enabled
        return m.fresh("bool" if name != "numel" else "number")
    return tensors.operation(m, prefixed, args, kwargs, site)


def _machinery(m: Core, part: str, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    if part.startswith("distributed.") and args and isinstance(args[0], Tensor):
        m.change_in_place(args[0], site)
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
    if name in REPORTS or top in ("logging", "warnings"):
        return m.opaque(name) if name[:1].isupper() or name.startswith("get") else None
    if top in QUIET_MODULES:
        return m.opaque(name) if name[:1].isupper() else m.fresh()
    if name in ("tqdm", "trange", "track", "Progress", "progress_bar", "prange") and args:
        from autodetach.machine.python_library import as_range

        return m.items_of(as_range(m, args[0]) if name == "trange" else args[0], site)
    if name in ("Variable",) and args:
        return args[0]
    if name[:1].isupper():
        held = [*args, *kwargs.values()]
        leaves = [leaf for v in held for leaf in leaves_of(m, v, site)]
        if leaves and not any(isinstance(v, Instance) and is_module(v) for v in held):
            return build_optimizer(m, path, args, kwargs, site)
        m.escape(held, site, name)
        for value in held:
            if isinstance(value, Instance) and is_module(value) and name in WRAPPERS:
                return value
        made = m.opaque(name)
        made.attrs["#held"] = Sequence("tuple", held, m.clock)
        return made
    return m.call_unknown(name, args, kwargs, site)


# ---- tensors from nothing


def factory(m: Core, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    if name in RANDOM:
        m.random_nodes.append(site)
    if name in ("as_tensor", "asarray") and args and isinstance(args[0], Tensor):
        return args[0]
    first = args[0] if args else None
    is_float: bool | None = None
    if name in ("tensor", "as_tensor", "asarray", "scalar_tensor", "from_numpy"):
        shape = tensors.shape_of_data(first)
        number = first
        while isinstance(number, Sequence) and number.items:
            number = number.items[0]
        is_float = True if isinstance(number, float) else False if isinstance(number, int) else None
    elif name.endswith("_like") and isinstance(first, Tensor):
        shape, is_float = first.shape, True if name.startswith("randn") else first.is_float
    elif name in ("full",):
        shape = tensors.shape_of_arguments(args[:1])
    elif name in ("randint",):
        size = kwargs.get("size", args[-1] if args else None)
        shape, is_float = tensors.shape_of_arguments([size]) if size is not None else None, False
    elif name in ("arange", "randperm", "range"):
        shape, is_float = ((first,) if len(args) == 1 and isinstance(first, int) else (None,)), False
        if any(isinstance(a, float) for a in args):
            is_float = True
    elif name in ("linspace", "logspace"):
        count = args[2] if len(args) > 2 else kwargs.get("steps", 100)
        shape, is_float = (count if isinstance(count, int) else None,), True
    elif name == "normal":
        size = kwargs.get("size", args[2] if len(args) > 2 else None)
        shape, is_float = tensors.shape_of_arguments([size]) if size is not None else None, True
    elif name == "eye":
        shape, is_float = (first, first) if isinstance(first, int) else None, True
    else:
        size = kwargs.get("size")
        shape = tensors.shape_of_arguments([size] if size is not None else args)
        is_float = name in ("rand", "randn", "zeros", "ones", "empty") or None
    result = Tensor(None, shape, is_float)
    result.born = m.clock
    wants = kwargs.get("requires_grad", False)
    if wants is not False and m.truth(wants, site, default=False):
        m.require_grad(result, site)
    return result


def make_grad_mode(m: Core, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    mode = GradMode(GRAD_MODES[name])
    if name == "set_grad_enabled" or (name == "inference_mode" and (args or kwargs)):
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
        from autodetach.machine.objects import decorate

        return decorate(mode, args[0])
    return mode


# ---- differentiation


def _autograd_backward(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    assert isinstance(site.node, ast.Call)
    roots = _roots(m, args[0] if args else kwargs.get("tensors"), site)
    root = site.node.args[0] if site.node.args else None
    tensors.differentiate_call(m, roots, args[2:], kwargs, site.node, site, root, "autograd.backward")
    return None


def _roots(m: Core, value: Value, site: Site) -> list[Value]:
    if isinstance(value, (Tensor, Opaque)):
        return [value]
    return list(graph_in(value)) or list(tensors_in(value))


def _autograd_grad(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    assert isinstance(site.node, ast.Call)
    outputs = args[0] if args else kwargs.get("outputs")
    inputs = args[1] if len(args) > 1 else kwargs.get("inputs")
    create = kwargs.get("create_graph", args[4] if len(args) > 4 else False)
    create_graph = m.truth(create, site, default=False)
    retain = kwargs.get("retain_graph", args[3] if len(args) > 3 else None)
    keep = create_graph if retain is None else m.truth(retain, site, default=False)
    roots = _roots(m, outputs, site)
    if isinstance(inputs, Iterable):
        inputs = Sequence("tuple", m.collect(inputs, site)[0], m.clock)
    wanted = list(graph_in(inputs))
    d = m.differentiate(
        roots,
        site.node,
        site,
        retain=keep,
        retain_written=next((k for k in site.node.keywords if k.arg == "retain_graph"), None),
        create_graph=create_graph,
        inputs=wanted if wanted else None,
        kind="grad",
        root_expression=site.node.args[0] if site.node.args else None,
    )
    targets = inputs.items if isinstance(inputs, Sequence) else [inputs]
    m.consume([t for t in targets if isinstance(t, Tensor)], d, site)
    if kwargs.get("allow_unused") is not True and kwargs.get("materialize_grads") is not True:
        reached = set(ancestors(r.node for r in roots if getattr(r, "node", None) is not None))
        for t in targets:
            if isinstance(t, Tensor) and t.node not in reached and not any(n.assumed or n.weak for n in reached):
                m.type_fault(site, "differentiates for a tensor that was not used", "unused")
    grads: list[Value] = []
    carriers = [r for r in roots if isinstance(r, (Tensor, Opaque)) and r.node is not None]
    for target in targets:
        grad = Tensor(None, target.shape if isinstance(target, Tensor) else None, True)
        grad.born = m.clock
        if create_graph and m.grad_enabled and carriers:
            parents = [c.node for c in carriers if c.node is not None]
            if isinstance(target, (Tensor, Opaque)) and target.node is not None:
                parents.append(target.node)
            grad.node = m.new_node("grad", site, tuple(dict.fromkeys(parents)), tuple(carriers), saves=True)
        grads.append(grad)
    exact = not isinstance(inputs, Sequence) or inputs.exact
    return Sequence("tuple", grads, m.clock, exact)


def apply_function(m: Core, cls: Class, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`MyFunction.apply(...)`: one node; it raises on a second walk iff `forward` calls `save_for_backward`."""
    saves = any(isinstance(n, ast.Attribute) and n.attr == "save_for_backward" for n in ast.walk(cls.node))
    op = Op(Saved.OPAQUE if saves else Saved.NOTHING)
    return m.derive(cls.name, op, tensors.flatten(args), site)


# ---- optimisers


def leaves_of(m: Core, value: Value, site: Site, depth: int = 3) -> list[Tensor]:
    """Leaf tensors among parameters, lists of them, and parameter groups."""
    if isinstance(value, Tensor):
        return [value] if value.node is not None and value.node.leaf else []
    if isinstance(value, Iterable):
        value = Sequence("list", m.collect(value, site, 64)[0])
    if depth <= 0:
        return []
    if isinstance(value, Sequence):
        return [leaf for v in value.items[:256] for leaf in leaves_of(m, v, site, depth - 1)]
    if isinstance(value, Mapping):
        return [leaf for _, v in value.items.values() for leaf in leaves_of(m, v, site, depth - 1)]
    return []


def build_optimizer(m: Core, path: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    made = Instance(External(path), m.serial(), m.clock)
    fill_optimizer(m, made, args, kwargs, site)
    return made


def fill_optimizer(m: Core, made: Instance, args: list[Value], kwargs: dict[str, Value], site: Site) -> None:
    leaves = [leaf for v in [*args, *kwargs.values()] for leaf in leaves_of(m, v, site)]
    unique = list({id(leaf): leaf for leaf in leaves}.values())
    made.attrs["#leaves"] = Sequence("list", list(unique))
    group = Mapping(m.clock, exact=False)
    group.items[m.key("params")] = ("params", Sequence("list", list(unique), m.clock))
    for name in ("lr", "weight_decay"):
        group.items[m.key(name)] = (name, m.fresh("number"))
    made.attrs["param_groups"] = Sequence("list", [group], m.clock)
    made.attrs["state"] = m.opaque("state")
    made.attrs["defaults"] = m.opaque("defaults")
    made.attrs["#optimizer"] = True


def is_optimizer(value: Value) -> bool:
    return isinstance(value, (Instance, Opaque)) and "#optimizer" in value.attrs


def optimizer_leaves(m: Core, value: Instance | Opaque) -> list[Tensor]:
    held = value.attrs.get("#leaves")
    if isinstance(held, Sequence):
        return held.items
    return m.leaves()


def optimizer_step(m: Core, this: Instance | Opaque, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    closure = args[0] if args else kwargs.get("closure")
    result: Value = None
    many = False
    if isinstance(closure, (Function, Method)):
        many = isinstance(this, Instance) and this.cls.name == "LBFGS"
        inner = closure.function if isinstance(closure, Method) else closure
        node = inner.node if isinstance(inner, Function) else None
        activation = m.activate(node, None, exact=not many)
        outer = m.loops
        mode, m.grad_enabled = m.grad_enabled, True
        try:
            for _ in range(2 if many else 1):
                if many:
                    m.enter_pass(activation, outer)
                result = m.call(closure, [], {}, site)
                if many:  # it moves the parameters between its calls
                    m.step(optimizer_leaves(m, this), site)
        finally:
            m.loops, m.grad_enabled = outer, mode
    if not many:
        m.step(optimizer_leaves(m, this), site)
    return result


def optimizer_method(m: Core, this: Instance | Opaque, name: str) -> Value:
    def run(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        if name == "step":
            return optimizer_step(m, this, args, kwargs, site)
        if name == "zero_grad":
            m.zero(optimizer_leaves(m, this), site)
            return None
        if name == "add_param_group":
            leaves = [leaf for v in args for leaf in leaves_of(m, v, site)]
            held = this.attrs.get("#leaves")
            if isinstance(held, Sequence):
                held.items.extend(leaves)
            return None
        return m.opaque(name) if name == "state_dict" else None

    return Native(name, run, this)


# ---- instances of library classes and of classes with library bases


def initialise(m: Core, this: Instance, args: list[Value], kwargs: dict[str, Value], site: Site) -> None:
    """`super().__init__(...)` reached a class that is not in view."""
    from autodetach.machine.objects import library_bases

    for path in library_bases(this.cls):
        part = of_torch(path)
        if (part is not None and part.startswith("optim.")) or path.endswith("Optimizer"):
            fill_optimizer(m, this, args, kwargs, site)
        elif part is not None and part.startswith("nn.") and part.rpartition(".")[2] in MODULES:
            made = build_module(m, part.rpartition(".")[2], args, kwargs, site)
            if isinstance(made, Instance):
                for name, value in made.attrs.items():
                    this.attrs.setdefault(name, value)
        elif path in ("builtins.list", "builtins.dict"):
            this.attrs["#items"] = Sequence("list", m.collect(args[0], site)[0] if args else [], m.clock)


def instance_attribute(m: Core, this: Instance, path: str, name: str, site: Site) -> Value:
    """An attribute that an instance has from a base of the library, or MISSING."""
    part = of_torch(path) or path
    short = part.rpartition(".")[2]
    if part.startswith("distributions."):
        return _distribution_attribute(m, this, name, site)
    if "#optimizer" in this.attrs and name in OPTIMIZER_METHODS:
        return optimizer_method(m, this, name)
    if short in ("GradScaler",):
        return Native(name, lambda args, kwargs, s: opaque_scaler(m, name, args, s), this)
    if part.startswith("nn.") or short.endswith(MODULE_BASES):
        if name == "training":
            return True
        if name in MODULE_METHODS:
            return Native(name, lambda args, kwargs, s: module_method(m, this, name, args, kwargs, s), this)
        if name == "forward":
            return Native(name, lambda args, kwargs, s: call_builtin_module(m, this, args, kwargs, s), this)
        if "#items" in this.attrs and name in (
            "append",
            "insert",
            "extend",
            "items",
            "keys",
            "values",
            "update",
            "pop",
        ):
            items = this.attrs["#items"]
            return Native(name, lambda args, kwargs, s: m.call_method(items, name, args, kwargs, s), this)
        if name == "__init__":
            return MISSING
        if name in ("log", "log_dict", "print", "save_hyperparameters") and this.open:
            return Native(name, lambda args, kwargs, s: None, this)
        if name == "manual_backward":
            return Native(name, lambda args, kwargs, s: wrapped_backward(m, this, args, kwargs, s), this)
        if name == "optimizers" and this.open:
            return Native(name, lambda args, kwargs, s: _lightning_optimizers(m, this, s), this)
    return MISSING


def class_attribute(m: Core, path: str, name: str) -> Value:
    return MISSING


def _lightning_optimizers(m: Core, this: Instance, site: Site) -> Value:
    if "#optimizers" not in this.attrs:
        configure = m.lookup(this, "configure_optimizers", site)
        made = m.call(configure, [], {}, site) if configure is not MISSING else m.opaque("optimizers")
        if isinstance(made, Sequence) and made.kind == "tuple" and made.items and isinstance(made.items[0], Sequence):
            made = made.items[0]
        if isinstance(made, Sequence) and len(made.items) == 1:
            made = made.items[0]
        this.attrs["#optimizers"] = made
    return this.attrs["#optimizers"]


def call_instance(m: Core, this: Instance, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`obj(...)` where the class in view has no `__call__`."""
    if is_module(this) or this.open:
        forward = m.lookup(this, "forward", site)
        if forward is not MISSING and not isinstance(forward, Opaque):
            m.in_forward += 1
            try:
                result = m.call(forward, args, kwargs, site)
            finally:
                m.in_forward -= 1
        else:
            result = call_builtin_module(m, this, args, kwargs, site)
        return run_hooks(m, this, args, result, site)
    return m.call_unknown(this.cls.name, [*args], kwargs, site)


def instance_items(m: Core, this: Instance, site: Site) -> Iterable:
    if this.cls.name == "DataLoader":
        return _loader_items(m, this, site)
    return Iterable(lambda exact: iter([m.opaque("item") for _ in range(3)]))


def _loader_items(m: Core, this: Instance, site: Site) -> Iterable:
    """Batches of a data set: what `__getitem__` gives, stacked by the default collation (which saves nothing)."""
    dataset = this.attrs.get("dataset")

    def make(exact: bool) -> Iterator[Value]:
        for i in range(3):
            index: Value = i if i == 0 else m.fresh("number", lo=i)
            if isinstance(dataset, Instance) and m.lookup(dataset, "__getitem__", site) is not MISSING:
                yield collated(m, m.call(m.attribute(dataset, "__getitem__", site), [index], {}, site), site)
            elif isinstance(dataset, Instance) and "#tensors" in dataset.attrs:
                held = dataset.attrs["#tensors"].items
                yield Sequence(
                    "list",
                    [
                        collated(m, tensors.subscript(m, t, index, site), site)
                        if isinstance(t, Tensor)
                        else m.opaque("item")
                        for t in held
                    ],
                    m.clock,
                )
            elif isinstance(dataset, (Sequence, Tensor)):
                yield collated(m, m.items_first(dataset, i, site), site)
            else:
                yield m.opaque("batch")

    return Iterable(make, None, "loader")


def collated(m: Core, value: Value, site: Site) -> Value:
    if isinstance(value, Sequence):
        return Sequence(
            "list" if value.kind == "tuple" else value.kind, [collated(m, v, site) for v in value.items], m.clock
        )
    if isinstance(value, Mapping):
        result = Mapping(m.clock, value.exact)
        for key, (k, v) in value.items.items():
            result.items[key] = (k, collated(m, v, site))
        return result
    if isinstance(value, Tensor):
        return m.derive(
            "stack",
            lookup("stack"),
            [value],
            site,
            None if value.shape is None else (None, *value.shape),
            is_float=value.is_float,
        )
    if is_number(value):
        return Tensor(None, (None,), isinstance(value, float))
    return m.opaque("batch")


# ---- values of unknown type


def opaque_method(m: Core, this: Opaque, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """A method of something unknown, by what its name and its arguments tell."""
    values = [*args, *kwargs.values()]
    if name == "backward" or name == "manual_backward":
        first = args[0] if args else kwargs.get("loss")
        if isinstance(first, (Tensor, Opaque)) and this.node is None:
            return wrapped_backward(m, this, args, kwargs, site)
        if this.node is not None and this.node.leaf:
            return None
        return _opaque_backward(m, this, args, kwargs, site)
    if name in ("item", "tolist"):
        return m.fresh("number" if name == "item" else "", tags=frozenset({site.node}))
    if name == "detach":
        result = m.opaque(this.name)
        result.scalar = this.scalar
        m.detached_from, m.detached_at = this.node, site.node
        return result
    if name == "step":
        return _opaque_step(m, this, args, kwargs, site)
    if name == "zero_grad":
        if "#weights" not in this.attrs:
            this.attrs["#optimizer"] = True
        m.zero(optimizer_leaves(m, this) if "#weights" not in this.attrs else [this.attrs["#weights"]], site)
        return None
    if name in ("scale",) and args and isinstance(args[0], (Tensor, Opaque)):
        return opaque_scaler(m, name, args, site)
    if name in ("unscale_", "update") and this.node is None and (not args or is_optimizer(args[0])):
        return None
    if name in MODULE_EVIDENCE:
        return _module_evidence(m, this, name, site)
    if name in PREPARES and args:
        return args[0] if len(args) == 1 else Sequence("tuple", list(args), m.clock)
    if name in ("to", "cuda", "cpu", "half", "float", "double") and (this.node is None or "#weights" in this.attrs):
        return this
    if name in ("accumulate", "autocast", "no_sync"):
        return m.opaque(name)
    if name in REPORTS:
        return None
    if name in ("map", "submit", "imap", "apply", "starmap", "apply_async", "run_in_executor") and values:
        called = _run_callbacks(m, name, args, site)
        if called is not None:
            return called
    if name in ("items", "keys", "values") and not args:
        return _opaque_view(m, this, name, site)
    if this.node is not None and name in TENSOR_ATTRIBUTES:
        return _opaque_operation(m, this, name, args, kwargs, site)
    if "#weights" in this.attrs:
        return m.unknown_result(name, [this.attrs["#weights"], *values], site)
    if not any(True for v in values for _ in graph_in(v)) and this.node is None:
        held = this.attrs.get("#held")
        if isinstance(held, Sequence) and any(True for _ in graph_in(held)):
            return m.unknown_result(name, [held, *values], site)
        return m.call_unknown(name, args, kwargs, site)
    return m.call_unknown(name, [this, *args], kwargs, site)


def _opaque_view(m: Core, this: Opaque, name: str, site: Site) -> Value:
    def make(exact: bool) -> Iterator[Value]:
        for _ in range(3):
            key, value = m.fresh(), m.part(this, "item", site)
            yield Sequence("tuple", [key, value], m.clock) if name == "items" else key if name == "keys" else value

    return Iterable(make)


def _opaque_operation(
    m: Core, this: Opaque, name: str, args: list[Value], kwargs: dict[str, Value], site: Site
) -> Value:
    """A Tensor method of an unknown value that has history."""
    from autodetach.machine.torch_semantics import NUMBER_METHODS

    if name in NUMBER_METHODS:
        return m.fresh("number" if name in ("dim", "numel") else "")
    if name in ("requires_grad_", "retain_grad", "register_hook"):
        return this
    op = lookup(name)
    if not op.differentiable:
        return tensors.plain()
    result = m.opaque(name)
    result.node = None
    if m.grad_enabled and this.node is not None:
        carriers = [this, *[v for v in tensors.flatten(args) if isinstance(v, (Tensor, Opaque)) and v.node is not None]]
        parents = tuple(dict.fromkeys(c.node for c in carriers if c.node is not None))
        result.node = m.new_node(
            name, site, parents, tuple(carriers), saves=op.saved is not Saved.NOTHING,
            assumed=this.node.assumed, weak=all(p.weak for p in parents),
        )  # fmt: skip
    result.scalar = name in ("sum", "mean", "norm") and not args and not kwargs
    if op.outputs in ("pair", "reduce2") and (args or "dim" in kwargs):
        return Sequence("tuple", [result, tensors.plain(None, False)], m.clock)
    return result


def _opaque_backward(m: Core, this: Opaque, args: list[Value], kwargs: dict[str, Value], site: Site) -> None:
    assert isinstance(site.node, ast.Call)
    root = site.node.func.value if isinstance(site.node.func, ast.Attribute) else None
    tensors.differentiate_call(m, [this], args[1:], kwargs, site.node, site, root)


def wrapped_backward(m: Core, this: Value, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`accelerator.backward(loss)`, `fabric.backward(loss)`, `engine.backward(loss)`, `self.manual_backward(loss)`."""
    assert isinstance(site.node, ast.Call)
    first = args[0] if args else kwargs.get("loss")
    root = site.node.args[0] if site.node.args else None
    tensors.differentiate_call(m, [first], args[1:], kwargs, site.node, site, root, "wrapper")
    return None


def _opaque_step(m: Core, this: Opaque, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    for value in [*args, *kwargs.values()]:
        if is_optimizer(value):
            return optimizer_step(m, value, [], {}, site)
    if is_optimizer(this) or any(isinstance(a, Function) for a in args):
        return optimizer_step(m, this, args, kwargs, site)
    return m.opaque("step")


def opaque_scaler(m: Core, name: str, args: list[Value], site: Site) -> Value:
    """`torch.amp.GradScaler`."""
    if name == "scale" and args:
        value = args[0]
        if isinstance(value, Tensor):
            return m.derive("mul", lookup("mul"), [value, m.fresh("number")], site, value.shape, is_float=True)
        if isinstance(value, Sequence):
            return Sequence(value.kind, [opaque_scaler(m, name, [v], site) for v in value.items], m.clock)
        return tensors.opaque_operator(m, "mul", value, m.fresh("number"), site)
    if name == "step" and args and isinstance(args[0], (Instance, Opaque)):
        if is_optimizer(args[0]):
            return optimizer_step(m, args[0], [], {}, site)
        return m.call_method(args[0], "step", args[1:], {}, site)
    return m.fresh("number") if name.startswith("get_") else None


def _module_evidence(m: Core, this: Opaque, name: str, site: Site) -> Value:
    """`x.parameters()`, `x.train()`: so `x` is a module."""
    if this.node is not None and not this.node.weak:
        return m.opaque(name)
    if "#weights" not in this.attrs:
        leaf = m.leaf(site)
        leaf.parameter = True
        this.attrs["#weights"] = leaf
        this.attrs.pop("#optimizer", None)
    leaf = this.attrs["#weights"]
    if name == "parameters":
        return Iterable(lambda exact: iter([leaf]), None, name)
    if name == "named_parameters":
        return Iterable(lambda exact: iter([Sequence("tuple", [m.fresh("str"), leaf], m.clock)]), None, name)
    if name in ("train", "eval"):
        return this
    return m.opaque(name) if name != "load_state_dict" else None


def call_opaque_module(m: Core, this: Opaque, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    result = m.opaque(this.name)
    values = [*args, *kwargs.values()]
    weights = this.attrs["#weights"]
    carriers = [weights, *[t for v in values for t in graph_in(v)]]
    strong = [c for c in carriers if c.node is not None and not c.node.weak]
    if m.grad_enabled and strong:
        parents = tuple(dict.fromkeys(c.node for c in strong if c.node is not None))
        saved = ((weights.storage, weights.storage.version),)
        result.node = m.new_node(this.name or "module", site, parents, tuple(strong), saves=True, saved=saved)
    return result


def _run_callbacks(m: Core, name: str, args: list[Value], site: Site) -> Value:
    """`pool.map(f, xs)`, `pool.submit(f, x)`: a function of the file is called by what is not in view."""
    if not args or not isinstance(args[0], (Function, Method)):
        return None
    if name in ("map", "imap", "starmap") and len(args) > 1:
        items, _ = m.collect(args[1], site)
        activation = m.activate(site.node, None, exact=True)
        outer = m.loops
        results = []
        try:
            for item in items[:4]:
                m.enter_pass(activation, outer)
                results.append(m.call(args[0], [item], {}, site))
        finally:
            m.loops = outer
        return Sequence("list", results, m.clock)
    result = m.opaque("future")
    value = m.call(args[0], list(args[1:]), {}, site)
    result.attrs["result"] = Native("result", lambda a, k, s: value)
    return result


# ---- distributions


def _distribution(m: Core, path: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made = Instance(External(path), m.serial(), m.clock)
    made.attrs["#inputs"] = Sequence("tuple", [*args, *kwargs.values()], m.clock)
    return made


def _distribution_attribute(m: Core, this: Instance, name: str, site: Site) -> Value:
    held = this.attrs["#inputs"]
    if name in DISTRIBUTION_DRAWS:

        def draw(args: list[Value], kwargs: dict[str, Value], s: Site) -> Value:
            m.random_nodes.append(s)
            return tensors.plain()

        return Native(name, draw, this)
    if name in ("mean", "stddev", "variance", "logits", "probs", "loc", "scale"):
        return m.derive(name, Op(Saved.OPAQUE), tensors.flatten([held]), site)

    def compute(args: list[Value], kwargs: dict[str, Value], s: Site) -> Value:
        if name == "rsample":
            m.random_nodes.append(s)
        return m.derive(name, Op(Saved.OPAQUE), tensors.flatten([held, *args]), s)

    return Native(name, compute, this)


# ---- single functions


def _variable(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    value = args[0] if args else kwargs.get("data")
    wants = kwargs.get("requires_grad", args[1] if len(args) > 1 else False)
    if isinstance(value, Tensor) and wants is True and value.node is None:
        fresh = tensors.plain(value.shape, True, value.storage)
        return m.require_grad(fresh, site)
    return value


def _parameter(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    value = args[0] if args else kwargs.get("data")
    result = tensors.plain(value.shape if isinstance(value, Tensor) else None, True)
    result.parameter = True
    result.born = m.clock
    wants = kwargs.get("requires_grad", args[1] if len(args) > 1 else True)
    if wants is not False:
        m.require_grad(result, site)
    return result


def _nn_utils(m: Core, name: str, args: list[Value], site: Site) -> Value:
    if name.startswith("clip_grad") or name == "get_total_norm":
        return tensors.plain((), True)
    if name.startswith(("rnn.", "pack", "pad", "unpad")) or name in ("parameters_to_vector",):
        return m.unknown_result(name, args, site) if not args or not isinstance(args[0], Iterable) else m.opaque(name)
    if name in ("spectral_norm", "weight_norm") and args:
        return args[0]
    return m.opaque(name)


def _functional_call(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """`torch.func.functional_call(module, params, args)`: the module with other parameters."""
    params = args[1] if len(args) > 1 else None
    given = args[2] if len(args) > 2 else kwargs.get("args")
    values: list[Value] = list(given.items) if isinstance(given, Sequence) else [given]
    module = args[0] if args else None
    weights = tensors.flatten([params])
    if isinstance(module, Instance):
        names = {id(p): w for p, w in zip(parameters_of(module), weights, strict=False)}
        if names and all(isinstance(w, Tensor) for w in names.values()):
            return _with_parameters(m, module, weights, values, kwargs, site)
    return m.derive("functional_call", Op(Saved.OPERANDS), tensors.flatten([*values, *weights]), site)


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


def _data_loader(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    made = Instance(External("torch.utils.data.DataLoader"), m.serial(), m.clock)
    made.attrs["dataset"] = args[0] if args else kwargs.get("dataset")
    made.attrs["batch_size"] = kwargs.get("batch_size", args[1] if len(args) > 1 else 1)
    return made


def _tensor_dataset(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    made = Instance(External("torch.utils.data.TensorDataset"), m.serial(), m.clock)
    made.attrs["#tensors"] = Sequence("tuple", list(args), m.clock)
    return made


def _scaler(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    return Instance(External("torch.amp.GradScaler"), m.serial(), m.clock)


def _checkpoint(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    return m.call(args[0], args[1:], {k: v for k, v in kwargs.items() if k != "use_reentrant"}, site)


Handler = Callable[[Core, list[Value], dict[str, Value], Site], Value]

HANDLERS: dict[str, Handler] = {
    "autograd.backward": _autograd_backward,
    "autograd.grad": _autograd_grad,
    "autograd.Variable": _variable,
    "nn.Parameter": _parameter,
    "nn.parameter.Parameter": _parameter,
    "func.functional_call": _functional_call,
    "nn.utils.stateless.functional_call": _functional_call,
    "utils.data.DataLoader": _data_loader,
    "utils.data.dataloader.DataLoader": _data_loader,
    "utils.data.TensorDataset": _tensor_dataset,
    "amp.GradScaler": _scaler,
    "cuda.amp.GradScaler": _scaler,
    "amp.grad_scaler.GradScaler": _scaler,
    "utils.checkpoint.checkpoint": _checkpoint,
}
