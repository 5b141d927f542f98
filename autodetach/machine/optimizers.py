"""Optimisers: which leaves they step, and what a step does."""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine import step_hooks
from autodetach.machine.called_unseen import ask
from autodetach.machine.children import walk
from autodetach.machine.classes import code_of, library_bases
from autodetach.machine.core import Core
from autodetach.machine.events import OldLoss
from autodetach.machine.graph import Site
from autodetach.machine.held import contents
from autodetach.machine.marks import LEAVES, OPTIMIZER
from autodetach.machine.non_leaves import refuse_non_leaves
from autodetach.machine.number_readers import wanted
from autodetach.machine.parameter_groups import group_of, groups_of, leaves_of
from autodetach.machine.program_values import Class, External, Instance, Iterable, Native
from autodetach.machine.ranges import usual_length
from autodetach.machine.state import MAX_LISTED
from autodetach.machine.steering import made_with_rate, scheduled, trained
from autodetach.machine.told_of_values import key_of
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value

BASES = frozenset({"torch.optim.Optimizer", "torch.optim.optimizer.Optimizer"})
"""The class that has no state but that which its subclasses fill in."""
MAX_GROUPS = 16
ONCE = "#once"
"""Marks an `LBFGS` that calls its closure once in each step: it makes one iteration, and searches no line."""
DIFFERENTIABLE = "#differentiable"
"""Marks one that may be given tensors with history."""
ITERATES = "#iterates"
"""Marks one of which it is known that it makes several iterations in each step."""
LBFGS = frozenset({"torch.optim.LBFGS", "torch.optim.lbfgs.LBFGS"})
LBFGS_USUAL = 20
"""How many iterations it makes by default."""
LBFGS_MAX_ITER, LBFGS_LINE_SEARCH = 2, 7
"""Where `LBFGS` takes these by position."""
OPTIMIZER_METHODS = frozenset("step zero_grad add_param_group state_dict load_state_dict".split()) | set(
    step_hooks.OF_ONE
)


def build_optimizer(m: Core, path: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    made = Instance(External(path), m.serial(), m.clock)
    fill_optimizer(m, made, args, kwargs, site)
    return made


def fill_optimizer(m: Core, made: Instance, args: list[Value], kwargs: dict[str, Value], site: Site) -> None:
    made_with_rate(m, [*args, *kwargs.values()], site)
    named = dict(kwargs)
    by_position: list[Value] = args or [named.pop("params", None)]
    given, others = by_position[0], [*by_position[1:], *named.values()]
    if isinstance(given, Iterable):
        given = Sequence("list", m.collect(given, site, MAX_LISTED)[0])
    if _is_of_torch(made.cls):
        refuse_non_leaves(m, given, kwargs, site)
    leaves = [leaf for v in [given, *others] for leaf in leaves_of(m, v, site)]
    unique = list({id(leaf): leaf for leaf in leaves}.values())
    if not _hides_parameters(given):
        made.attrs[LEAVES] = Sequence("list", list(unique))
    made.attrs["param_groups"] = groups_of(m, given, unique, site)
    made.attrs["state"] = _state_of(m, made.cls)
    made.attrs["defaults"] = m.opaque("defaults")
    made.attrs[OPTIMIZER] = True
    if kwargs.get("differentiable", False) is not False:
        made.attrs[DIFFERENTIABLE] = True
    if made.cls.name == "LBFGS" and _makes_one_call(m, args, kwargs):
        made.attrs[ONCE] = True
    elif isinstance(made.cls, External) and made.cls.path in LBFGS and _iterates(m, args, kwargs, site):
        made.attrs[ITERATES] = True


def _is_of_torch(cls: Class | External) -> bool:
    return isinstance(cls, External) and cls.path.startswith("torch.optim.")


def _makes_one_call(m: Core, args: list[Value], kwargs: dict[str, Value]) -> bool:
    most = args[LBFGS_MAX_ITER] if len(args) > LBFGS_MAX_ITER else kwargs.get("max_iter")
    search = args[LBFGS_LINE_SEARCH] if len(args) > LBFGS_LINE_SEARCH else kwargs.get("line_search_fn")
    return search is None and usual_length(m, 0, most, 1) in (0, 1)


def _iterates(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> bool:
    """Whether it is known that an `LBFGS` makes several iterations in each step."""
    call = site.node
    if not isinstance(call, ast.Call) or len(args) > LBFGS_MAX_ITER + 1 or "max_eval" in kwargs:
        return False
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return False
    most = args[LBFGS_MAX_ITER] if len(args) > LBFGS_MAX_ITER else kwargs.get("max_iter", LBFGS_USUAL)
    return (usual_length(m, 0, most, 1) or 0) > 1


def _has_groups_of_its_own(m: Core, this: Instance) -> bool:
    """Whether a group of an `LBFGS` says how many iterations it makes, or may say so."""
    groups = this.attrs.get("param_groups")
    if not isinstance(groups, Sequence):
        return True
    limits = {m.key("max_iter"), m.key("max_eval")}
    return not all(isinstance(g, Mapping) and limits.isdisjoint(g.items) for g in groups.items)


def _state_of(m: Core, cls: Class | External) -> Value:
    """What an optimizer in view keeps for each parameter, beside what a base of the library may keep there."""
    if not isinstance(cls, Class):
        return m.opaque("state")
    is_alone = set(library_bases(cls)) <= BASES
    state = Mapping(m.clock, is_alone)
    state.default = Native("dict", lambda args, kwargs, site: Mapping(m.clock, is_alone))
    return state


def give_parameters(m: Core, made: Opaque, given: list[Value], site: Site) -> None:
    """Note which parameters an unknown callable was given: if it made an optimizer, it is one of these."""
    listings = [v for v in given if _lists_parameters(v)]
    leaves = [leaf for v in listings for leaf in leaves_of(m, v, site)]
    if leaves:
        made.attrs[LEAVES] = Sequence("list", list({id(leaf): leaf for leaf in leaves}.values()))


def _lists_parameters(value: Value, depth: int = 2) -> bool:
    """Whether a value is `net.parameters()`, or a list of parameter groups."""
    if isinstance(value, Iterable):
        return value.name.endswith("parameters")
    if isinstance(value, (Sequence, Mapping)) and depth > 0:
        return any(_lists_parameters(v, depth - 1) for v in contents(value)[:MAX_GROUPS])
    return False


def _hides_parameters(value: Value) -> bool:
    """Whether nobody in view can say which parameters are listed: `Adam(mylib.groups(net))` may train any."""
    if isinstance(value, Opaque):
        return LEAVES not in value.attrs
    if isinstance(value, Sequence):  # what stands in it is a parameter itself, or a group
        groups = [v.items.get(key_of("params")) for v in value.items[:MAX_GROUPS] if isinstance(v, Mapping)]
        return any(_hides_parameters(listed[1]) for listed in groups if listed is not None)
    return False


def is_optimizer(value: Value) -> bool:
    return isinstance(value, (Instance, Opaque)) and OPTIMIZER in value.attrs


def optimizer_leaves(m: Core, value: Instance | Opaque) -> list[Tensor]:
    held = value.attrs.get(LEAVES)
    if isinstance(held, Sequence):
        return held.items
    m.open_optimizers.add(value.name if isinstance(value, Opaque) else value)
    return m.leaves()


def step_leaves(m: Core, value: Instance | Opaque, site: Site) -> None:
    """The step itself, behind hooks and closures."""
    m.step(optimizer_leaves(m, value), site, guessed=LEAVES not in value.attrs)


def optimizer_step(m: Core, this: Instance | Opaque, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    if len(args) > 1 and code_of(args[0]) is None:
        # That of `torch.optim` is given a closure alone: another one may do something else with the gradient.
        m.step(optimizer_leaves(m, this), site, "grad", guessed=LEAVES not in this.attrs)
        return m.opaque("step")
    trained(m, site)
    ask(m)
    step_hooks.run(m, this, step_hooks.BEFORE, args, kwargs, site)
    result = _step(m, this, args, kwargs, site)
    step_hooks.run(m, this, step_hooks.BEHIND, args, kwargs, site)
    return result


def _step(m: Core, this: Instance | Opaque, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    closure = args[0] if args else kwargs.get("closure")
    result: Value = None
    many = iterates = False
    function = code_of(closure)
    if function is not None:
        if isinstance(this, Instance):
            many = this.cls.name == "LBFGS" and ONCE not in this.attrs
            iterates = ITERATES in this.attrs and not _has_groups_of_its_own(m, this)
        activation = m.activate(function.node, None, exact=not many)
        outer = m.loops
        mode, m.grad_enabled = m.grad_enabled, True
        try:
            before = m.differentiations[-1:]
            for _ in range(2 if many else 1):
                if many:
                    m.enter_pass(activation, outer)
                earlier, result = result, m.call(closure, [], {}, site)
                if many and iterates and m.differentiations[-1:] == before and computes_nothing(function.node):
                    _note_old_loss(m, earlier, result, site, function.node)
                if many:  # it moves the parameters between its calls
                    step_leaves(m, this, site)
        finally:
            m.loops, m.grad_enabled = outer, mode
    if not many:
        step_leaves(m, this, site)
    return result


def _note_old_loss(m: Core, earlier: Value, result: Value, site: Site, closure: ast.AST) -> None:
    """The same loss was given twice, and what made it has been differentiated before the step."""
    if not isinstance(earlier, Tensor) or not isinstance(result, Tensor) or result.node is not earlier.node:
        return
    if result.node is not None and not result.node.leaf and result.node.walked_by:
        m.old_losses.append(OldLoss(result.node, result.node.walked_by[-1], site, closure))


@kept
def computes_nothing(function: ast.AST) -> bool:
    """Whether a function calls nothing, but what clears gradients."""
    calls = (n for n in walk(function) if isinstance(n, ast.Call))
    return all(isinstance(call.func, ast.Attribute) and call.func.attr == "zero_grad" for call in calls)


def optimizer_method(m: Core, this: Instance | Opaque, name: str) -> Value:
    """Call a method of an optimizer of `torch.optim`."""
    def run(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        values = [*args, *kwargs.values()]
        if name == "step":
            scheduled(m, values, site)  # what is derived from a scheduler is taken for an optimizer
            return optimizer_step(m, this, args, kwargs, site)
        if name == "zero_grad":
            m.zero(optimizer_leaves(m, this))
            return None
        if name == "add_param_group":
            wanted(m, values, site, name)
            if isinstance(this, Instance) and _is_of_torch(this.cls) and DIFFERENTIABLE not in this.attrs:
                refuse_non_leaves(m, Sequence("list", values), {}, site)
            leaves = [leaf for v in values for leaf in leaves_of(m, v, site)]
            held = this.attrs.get(LEAVES)
            if isinstance(held, Sequence):
                held.items.extend(leaves)
            groups = this.attrs.get("param_groups")
            if isinstance(groups, Sequence):
                written = values[0] if values and isinstance(values[0], Mapping) else Mapping()
                groups.items.append(group_of(m, written, leaves))
            return None
        if name == "load_state_dict":
            wanted(m, values, site, name)
        if name in step_hooks.OF_ONE and values:
            return step_hooks.register(m, this, step_hooks.OF_ONE[name], values[0])
        return m.opaque(name) if name == "state_dict" else None

    return Native(name, run, this)
