"""Instances of library classes, and of classes of the file that derive from them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from autodetach.machine import containers, data_sets, tensors
from autodetach.machine.called_unseen import OF_SCHEDULERS, register_methods
from autodetach.machine.core import Core
from autodetach.machine.distributions import cached, distribution_attribute
from autodetach.machine.engines import opaque_scaler, wrapped_backward
from autodetach.machine.frameworks import toggle
from autodetach.machine.graph import Site
from autodetach.machine.marks import HOOKS, ITEMS, OPTIMIZER, PREHOOKS, TENSORS
from autodetach.machine.module_building import build_module
from autodetach.machine.module_calls import call_builtin_module, run_hooks, run_pre_hooks
from autodetach.machine.module_dicts import held_by_name, is_kept_by_name
from autodetach.machine.module_methods import MODULE_METHODS, module_method
from autodetach.machine.module_tree import is_module, named_child
from autodetach.machine.number_readers import wanted
from autodetach.machine.optimizers import OPTIMIZER_METHODS, fill_optimizer, optimizer_method
from autodetach.machine.part_names import forget
from autodetach.machine.program_values import External, Instance, Iterable, Native
from autodetach.machine.records import NAMESPACE, fill_namespace
from autodetach.machine.state import MISSING
from autodetach.machine.threads import BOUND, fill_thread, thread_method
from autodetach.machine.told_of_values import is_number
from autodetach.machine.torch_semantics import MODULES, lookup
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value

MODULE_BASES = ("Module", "LightningModule", "PreTrainedModel")
REPLACED = frozenset({"forward", HOOKS, PREHOOKS})
"""Attributes of a module by which calling it is more than what its class does."""
CONTAINERS = frozenset({"builtins.list", "builtins.dict"}).union(
    f"collections.{name}" for name in ("Counter", "OrderedDict", "defaultdict", "deque")
)
"""Containers of Python whose subclasses hold what they hold."""


def of_torch(path: str) -> str | None:
    """The part behind `torch.` of a path that belongs to PyTorch."""
    return path[6:] if path.startswith("torch.") else None


def knows_class(path: str) -> bool:
    """Whether all attributes of a library class are known to the machine."""
    part = of_torch(path)
    if part is None:
        return path == NAMESPACE
    return part.startswith(("nn.", "optim.", "utils.data.")) or part == "autograd.Function"


def initialise(m: Core, this: Instance, args: list[Value], kwargs: dict[str, Value], site: Site) -> None:
    """`super().__init__(...)` reached a class that is not in view."""
    from autodetach.machine.classes import library_bases

    for path in library_bases(this.cls):
        part = of_torch(path)
        if part is not None and part.startswith("optim.lr_scheduler."):
            register_methods(m, this, OF_SCHEDULERS, site)
        if (part is not None and part.startswith("optim.")) or path.endswith("Optimizer"):
            fill_optimizer(m, this, args, kwargs, site)
        elif part is not None and part.startswith("nn.") and part.rpartition(".")[2] in MODULES:
            made = build_module(m, part.rpartition(".")[2], args, kwargs, site)
            if isinstance(made, Instance):
                for name, value in made.attrs.items():
                    this.attrs.setdefault(name, value)
        elif path == "threading.Thread":
            fill_thread(m, this, args, kwargs)
        elif path == NAMESPACE:
            fill_namespace(this, args, kwargs)
        elif path in CONTAINERS:
            made = m.call(External(path), args, kwargs, site)
            if isinstance(made, (Sequence, Mapping)):
                this.attrs[ITEMS] = made


def instance_attribute(m: Core, this: Instance, path: str, name: str, site: Site) -> Value:
    """An attribute that an instance has from a base of the library, or MISSING."""
    part = of_torch(path) or path
    short = part.rpartition(".")[2]
    if part.startswith("distributions."):
        return distribution_attribute(m, this, name, site)
    if OPTIMIZER in this.attrs and name in OPTIMIZER_METHODS:
        return optimizer_method(m, this, name)
    if path == "threading.Thread" and name in BOUND:
        return thread_method(m, this, name)
    if name == "manual_backward":  # of Lightning alone, by whatever name its module is imported
        return Native(name, lambda args, kwargs, s: wrapped_backward(m, args, kwargs, s), this)
    if short in ("GradScaler",):
        return Native(name, lambda args, kwargs, s: opaque_scaler(m, name, args, s), this)
    if path in CONTAINERS and ITEMS in this.attrs and name != "__init__":
        return containers.attribute(m, this.attrs[ITEMS], name)
    if part.startswith("nn.") or short.endswith(MODULE_BASES):
        if name == "training":
            return True
        if name in ("module", "_orig_mod") and is_module(this):
            return this  # what DataParallel and torch.compile wrap is taken for what they make
        if name == "_get_name":
            return Native(name, lambda args, kwargs, s: this.cls.name, this)
        if name in MODULE_METHODS:
            return Native(name, lambda args, kwargs, s: module_method(m, this, name, args, kwargs, s), this)
        if is_kept_by_name(this, name):
            forget(m, [this])
            return held_by_name(this, name)
        child = named_child(this, name)
        if child is not None and is_module(this):
            return child
        if name == "forward":
            return Native(name, lambda args, kwargs, s: call_builtin_module(m, this, args, kwargs, s), this)
        if name == "__call__":
            return Native(name, lambda args, kwargs, s: call_instance(m, this, args, kwargs, s), this)
        if ITEMS in this.attrs and name in (
            "append",
            "insert",
            "extend",
            "items",
            "keys",
            "values",
            "update",
            "pop",
        ):
            return Native(name, lambda args, kwargs, s: _of_items(m, this.attrs[ITEMS], name, args, kwargs, s), this)
        if name == "__init__":
            return MISSING
        if name in ("log", "log_dict", "print", "save_hyperparameters") and this.open:
            return Native(name, lambda args, kwargs, s: None, this)
        if name in ("toggle_optimizer", "untoggle_optimizer") and this.open:
            on = name == "toggle_optimizer"
            return Native(name, lambda args, kwargs, s: toggle(m, this, args[0] if args else None, on, s), this)
        if name == "optimizers" and this.open:
            return Native(name, lambda args, kwargs, s: _lightning_optimizers(m, this, s), this)
    return MISSING


def _of_items(
    m: Core, items: Value, name: str, args: list[Value], kwargs: dict[str, Value], site: Site
) -> Value:
    """Call a method of a list or dict of layers, or of parameters, which makes parameters of tensors alone."""
    wanted(m, [*args, *kwargs.values()], site, name)
    return m.call_method(items, name, args, kwargs, site)


def class_attribute(m: Core, path: str, name: str) -> Value:
    """What a class has from a base of the library, or MISSING."""
    return External(f"{path}.{name}") if path.startswith("torch.nn.utils.prune.") and name == "apply" else MISSING


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
    if isinstance(this.cls, External) and this.cls.path.startswith("torch.nn.") and REPLACED.isdisjoint(this.attrs):
        m.spend()  # as for the call of its `forward`
        m.in_forward += 1
        try:
            return call_builtin_module(m, this, args, kwargs, site)
        finally:
            m.in_forward -= 1
    if isinstance(this.cls, External) and len(args) == 1 and isinstance(args[0], Tensor):
        kept = cached(m, this, args[0], site)
        if kept is not None:
            return kept
    if is_module(this) or this.open:
        args = run_pre_hooks(m, this, args, site)
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
    """Batches of a data set: what `__getitem__` gives, put together as `collate_fn` says; by default it is stacked."""
    dataset = this.attrs.get("dataset")
    collate = this.attrs.get("collate_fn")

    def batch_of(item: Value) -> Value:
        if collate is None:
            return stacked(m, item, site)
        return m.call(collate, [Sequence("list", [item, item], m.clock, exact=False)], {}, site)

    def make(exact: bool) -> Iterator[Value]:
        for i in m.rounds():
            index: Value = i if i == 0 else m.fresh("number", lo=i)
            if isinstance(dataset, Instance) and m.lookup(dataset, "__getitem__", site) is not MISSING:
                get = m.attribute(dataset, "__getitem__", site)
                yield batch_of(data_sets.example(m, partial(m.call, get, [index], {}, site)))
            elif isinstance(dataset, Instance) and TENSORS in dataset.attrs:
                held = dataset.attrs[TENSORS].items
                rows = [tensors.subscript(m, t, index, site) if isinstance(t, Tensor) else m.opaque() for t in held]
                yield batch_of(Sequence("tuple", list(rows), m.clock))
            elif isinstance(dataset, (Sequence, Tensor)):
                yield batch_of(m.items_first(dataset, i, site))
            else:
                yield m.opaque("batch")

    return Iterable(make, None, "loader")


def stacked(m: Core, value: Value, site: Site) -> Value:
    if isinstance(value, Sequence):
        return Sequence(
            "list" if value.kind == "tuple" else value.kind, [stacked(m, v, site) for v in value.items], m.clock
        )
    if isinstance(value, Mapping):
        result = Mapping(m.clock, value.exact)
        for key, (k, v) in value.items.items():
            result.items[key] = (k, stacked(m, v, site))
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
