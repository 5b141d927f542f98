"""Threads, and the libraries that wrap training: what they do to the graph, as far as their documentation says."""

from __future__ import annotations

from collections.abc import Callable

from autodetach.machine import tensors
from autodetach.machine.core import Core, Raised
from autodetach.machine.graph import Site
from autodetach.machine.module_tree import is_module, parameters_of
from autodetach.machine.optimizers import fill_optimizer, is_optimizer, optimizer_leaves
from autodetach.machine.torch_semantics import lookup
from autodetach.machine.unknown import wrapped_backward
from autodetach.machine.values import External, Instance, Mapping, Native, Opaque, Sequence, Tensor, Value

Args = list[Value]
Named = dict[str, Value]
Handler = Callable[[Core, Args, Named, Site], Value]
BOUND = ("start", "run", "join", "is_alive")


# ---- threads


def fill_thread(m: Core, this: Instance, args: Args, kwargs: Named) -> None:
    """`Thread(group, target, name, args, kwargs)`, by place or by name."""
    given = dict(zip(("group", "target", "name", "args", "kwargs"), args, strict=False)) | kwargs
    this.attrs["#target"] = given.get("target")
    this.attrs["#args"] = given.get("args") or Sequence("tuple", [], m.clock)
    this.attrs["#kwargs"] = given.get("kwargs") or Mapping(m.clock)


def _thread(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    made = Instance(External("threading.Thread"), m.serial(), m.clock)
    fill_thread(m, made, args, kwargs)
    return made


def thread_method(m: Core, this: Instance, name: str) -> Value:
    """What `start` starts is run there and then; what it raises, nobody sees."""

    def run(args: Args, kwargs: Named, site: Site) -> Value:
        target, held, named = (this.attrs.get(key) for key in ("#target", "#args", "#kwargs"))
        if name == "start":
            try:
                m.call(m.attribute(this, "run", site), [], {}, site)
            except Raised:
                return None
        elif name == "run" and target is not None:
            options = {k: v for k, v in named.items.values() if isinstance(k, str)} if named is not None else {}
            m.call(target, m.collect(held, site)[0], options, site)
        return False if name == "is_alive" else None

    return Native(name, run, this)


def _local(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`threading.local()`: an object that has what was set, and nothing else. All threads are taken for one."""
    return Instance(External("threading.local"), m.serial(), m.clock)


def _futures(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`as_completed(futures)`: in the order in which they were submitted."""
    value = args[0] if args else kwargs.get("fs")
    items, exact = m.collect(value, site)
    return Sequence("list", items, m.clock, exact)


# ---- DeepSpeed, apex, Lightning


def _engine(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`deepspeed.initialize(model=..., optimizer=...)`: (engine, optimizer, loader, scheduler)."""
    model = kwargs.get("model", args[1] if len(args) > 1 else None)
    given = kwargs.get("optimizer", args[2] if len(args) > 2 else None)
    if not isinstance(model, Instance) or not is_module(model):
        return m.call_unknown("initialize", args, kwargs, site)
    engine = Instance(External("torch.nn.DeepSpeedEngine"), m.serial(), m.clock)
    made = Instance(External("deepspeed.Optimizer"), m.serial(), m.clock)
    optimizer: Instance | Opaque = made
    if isinstance(given, (Instance, Opaque)) and is_optimizer(given):
        optimizer = given
    else:
        fill_optimizer(m, made, [Sequence("list", list(parameters_of(model)), m.clock)], {}, site)

    def forward(values: Args, named: Named, s: Site) -> Value:
        return m.call(model, values, named, s)

    def step(values: Args, named: Named, s: Site) -> Value:
        leaves = optimizer_leaves(m, optimizer)
        m.step(leaves, s)
        m.zero(leaves, s)  # the engine clears the gradient itself

    engine.attrs.update(
        module=model,
        optimizer=optimizer,
        forward=Native("forward", forward),
        backward=Native("backward", lambda values, named, s: wrapped_backward(m, engine, values, named, s)),
        step=Native("step", step),
    )
    return Sequence("tuple", [engine, optimizer, kwargs.get("training_data"), m.opaque("scheduler")], m.clock)


def _initialize_apex(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    given = [*args, *[kwargs[k] for k in ("models", "optimizers") if k in kwargs]][:2]
    return given[0] if len(given) == 1 else Sequence("tuple", given, m.clock)


def _scale_loss(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`with amp.scale_loss(loss, optimizer) as scaled:`: the loss times a number."""
    loss = args[0] if args else kwargs.get("loss")
    if isinstance(loss, Tensor):
        return m.derive("mul", lookup("mul"), [loss, m.fresh("number")], site, loss.shape, is_float=True)
    return tensors.opaque_operator(m, "mul", loss, m.fresh("number"), site)


def toggle(m: Core, this: Instance, optimizer: Value, on: bool, site: Site) -> None:
    """Lightning's `toggle_optimizer`: only what this optimizer steps requires grad, until it is untoggled."""
    if on and is_optimizer(optimizer):
        own = {id(leaf) for leaf in optimizer_leaves(m, optimizer)}
        frozen = [p for p in parameters_of(this) if id(p) not in own and p.node is not None]
        this.attrs["#toggled"] = Sequence("list", list(frozen), m.clock)
        for p in frozen:
            tensors.set_requires_grad(m, p, False, site)
    elif not on:
        held = this.attrs.pop("#toggled", None)
        for p in held.items if isinstance(held, Sequence) else []:
            tensors.set_requires_grad(m, p, True, site)


FUNCTIONS: dict[str, Handler] = {
    "threading.Thread": _thread,
    "threading.local": _local,
    "concurrent.futures.as_completed": _futures,
    "deepspeed.initialize": _engine,
    "apex.amp.initialize": _initialize_apex,
    "apex.amp.scale_loss": _scale_loss,
}
