"""DeepSpeed, apex, Lightning: what wraps training does to the graph, as far as the documentation says."""

from __future__ import annotations

from autodetach.machine import operations, tensors, threads
from autodetach.machine.core import Args, Core, Handler, Named
from autodetach.machine.engines import wrapped_backward
from autodetach.machine.graph import Site
from autodetach.machine.module_tree import is_module, parameters_of
from autodetach.machine.optimizers import fill_optimizer, is_optimizer, optimizer_leaves
from autodetach.machine.program_values import External, Instance, Native
from autodetach.machine.torch_semantics import lookup
from autodetach.machine.unknown_modules import weights_of_network
from autodetach.machine.values import Opaque, Sequence, Tensor, Value


def _engine(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`deepspeed.initialize(model=..., optimizer=...)`: (engine, optimizer, loader, scheduler)."""
    model = kwargs.get("model", args[1] if len(args) > 1 else None)
    given = kwargs.get("optimizer", args[2] if len(args) > 2 else None)
    if isinstance(model, Opaque) and (model.node is None or model.node.weak):
        return _engine_of_unknown(m, model, given, kwargs, site)
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
        m.zero(leaves)  # the engine clears the gradient itself

    engine.attrs.update(
        module=model,
        optimizer=optimizer,
        forward=Native("forward", forward),
        backward=Native("backward", lambda values, named, s: wrapped_backward(m, values, named, s)),
        step=Native("step", step),
    )
    return Sequence("tuple", [engine, optimizer, kwargs.get("training_data"), m.opaque("scheduler")], m.clock)


def _engine_of_unknown(m: Core, model: Opaque, given: Value, kwargs: Named, site: Site) -> Value:
    """A network that is not in view stands for its engine, which is asked for what is asked of engines alone."""
    model.node = None
    weights_of_network(m, model, site)
    optimizer = given if isinstance(given, (Instance, Opaque)) else m.opaque("optimizer")
    return Sequence("tuple", [model, optimizer, kwargs.get("training_data"), m.opaque("scheduler")], m.clock)


def _initialize_apex(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    given = [*args, *[kwargs[k] for k in ("models", "optimizers") if k in kwargs]][:2]
    return given[0] if len(given) == 1 else Sequence("tuple", given, m.clock)


def _scale_loss(m: Core, args: Args, kwargs: Named, site: Site) -> Value:
    """`with amp.scale_loss(loss, optimizer) as scaled:`: the loss times a number."""
    loss = args[0] if args else kwargs.get("loss")
    if isinstance(loss, Tensor):
        return m.derive("mul", lookup("mul"), [loss, m.fresh("number")], site, loss.shape, is_float=True)
    return operations.opaque_operator(m, "mul", loss, m.fresh("number"), site)


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


HANDLERS: dict[str, Handler] = {
    "threading.Thread": threads.make,
    "threading.local": threads.local,
    "asyncio.run": threads.event_loop,
    "concurrent.futures.as_completed": threads.futures,
    "deepspeed.initialize": _engine,
    "apex.amp.initialize": _initialize_apex,
    "apex.amp.scale_loss": _scale_loss,
}
