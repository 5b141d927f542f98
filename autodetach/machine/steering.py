"""Where a test steers the training: how long it goes on, or what a branch does to an optimizer.

`.item()` makes a number of double precision, and a sum of these is another one in its last digits than the sum of the
tensors, by which such a test may go the other way. What the branches only save or print is left as it is. A scheduler
tests what its step is given; a truth that is counted may weigh a loss; and what chooses a value, by `a if test else b`,
chooses what that is for, as does what picks it by an index, `rates[worse]`, or counts how often a loop steps. So does
the sum itself, where a rate, a setting of a layer, a gradient or a loss is made of it.
"""

from __future__ import annotations

import ast
import sys
from collections import abc
from collections.abc import Iterable, Iterator

from autodetach.kept import kept
from autodetach.machine.children import stands_in, targets_of, walk
from autodetach.machine.classes import library_bases
from autodetach.machine.core import Core, tags_in
from autodetach.machine.events import Escape
from autodetach.machine.graph import Site
from autodetach.machine.names_that_train import (
    asked_at_its_head,
    classes_in,
    names_that_train,
    read_on,
    repeats_training,
    saves_what_is_loaded,
    set_by,
)
from autodetach.machine.number_readers import FRACTION, ROUNDED, marked, sum_in
from autodetach.machine.program_values import Frame, Instance
from autodetach.machine.spelling import spelled
from autodetach.machine.steering_branches import (
    NAMES,
    RATES,
    TESTS,
    asked_by_steering,
    called_in,
    counted_in,
    is_rate,
    is_steering,
    returned_by,
    shows,
    skips,
    steers,
)
from autodetach.machine.told_of_values import is_number, key_of
from autodetach.machine.torch_semantics import MODULES
from autodetach.machine.values import Mapping, Opaque, Sequence, Sym, Tensor, Value, gradients_in
from autodetach.node_types import DEFINITIONS, LOOPS

TAKING = (ast.AnnAssign, ast.Assign, ast.AugAssign, ast.Expr, ast.Return)
"""Statements that take a value, and do not ask for it."""
SETTINGS = frozenset(
    """
    alpha beta delta div_value dropout eps label_smoothing lambd lower margin max_norm max_val min_val momentum
    negative_slope norm norm_type p pos_weight scale_factor threshold upper value weight
    """.split()
)
"""What layers and losses of `torch.nn` compute with; what a class that derives from one keeps besides is its own."""
SEEDING = frozenset("default_rng manual_seed manual_seed_all seed seed_all seed_everything set_seed".split())
"""What is drawn from then on comes of what these are given."""
PYTHON = frozenset({"builtins", *sys.stdlib_module_names})
Trail = abc.Sequence[tuple[ast.stmt, Frame]]
"""The statements that are executed, from the outermost one to the innermost one, each with its frame."""


def tested(m: Core, value: Sym, site: Site) -> None:
    """The truth of what is computed from a sum is asked: whether that steers the training is noted."""
    if not (m.trail and ROUNDED in value.tags):
        return
    statement, frame = m.trail[-1]
    if isinstance(statement, TESTS) and (isinstance(statement, ast.Match) or stands_in(site.node, statement.test)):
        frame.went[statement, ROUNDED] = True
        steers_it = _goes_to(m.trail)
    elif isinstance(statement, ast.Expr) and any(stands_in(site.node, each) for each in _asked_first(statement.value)):
        steers_it = _goes_to(m.trail)
    elif isinstance(statement, ast.Assert):
        steers_it = stands_in(site.node, statement.test)
    else:
        chosen = next((n for n in _choices(statement) if stands_in(site.node, n.test)), None)
        if chosen is not None and isinstance(statement, (ast.For, ast.AsyncFor)):
            frame.went[statement, ROUNDED] = True
        steers_it = chosen is not None and _chooses(m.trail, chosen)
    if steers_it:
        _note(m, value.tags, site)


def scheduled(m: Core, values: Iterable[Value], site: Site) -> None:
    """A `step()` out of view is given some values: a scheduler compares what it is given with what it was given."""
    tags = frozenset(tag for value in values if type(value) is Sym for tag in value.tags)
    if ROUNDED in tags and isinstance(site.node, ast.Call) and not shows(site.node.func):
        _note(m, tags, site)


def rated(m: Core, this: Value, key: Value, value: Value, site: Site) -> None:
    """Something is stored under a key or name: a rate may be made of a sum, or be set where a test of one leads to."""
    if not (isinstance(key, str) and _is_rate_of(this, key)):
        return
    tags = frozenset(tags_in(value)) if type(value) is Sym or type(value) is Sequence else frozenset()
    if ROUNDED in tags or any((statement, ROUNDED) in frame.went for statement, frame in m.trail if frame.went):
        _note(m, tags, site)


def _is_rate_of(this: Value, key: str) -> bool:
    """Whether an optimizer or a layer computes with what is stored there: the `p` of a dropout, the `lr` of a group."""
    if isinstance(this, Mapping):
        return key_of("params") in this.items  # any other one is a record, which may tell of the rate
    if not isinstance(this, Instance):
        return key in RATES
    bases = library_bases(this.cls)
    return (key in RATES and any(map(_has_rates, bases))) or (key in SETTINGS and any(map(_is_layer, bases)))


def _has_rates(path: str) -> bool:
    """An optimizer, a scheduler or a layer: what derives from nothing, or from a record of Python's, tells its own."""
    return path != "torch.nn.Module" and path.partition(".")[0] not in PYTHON


def _is_layer(path: str) -> bool:
    """A class of `torch.nn` that reads its attributes when it is called; others tell theirs."""
    known = MODULES.get(path.rpartition(".")[2]) if path.startswith("torch.nn.") else None
    return known is not None and known.result != "container"


def weighed(m: Core, left: Value, right: Value, site: Site) -> None:
    """An operator is applied to a number and to a tensor: if the number counts how a test of sums went, it steers.

    What a sum itself makes of a tensor may only be shown: see `taken`.
    """
    for side, other in ((left, right), (right, left)):
        number = sum_in(side) if is_trained(other) else None
        if number is not None and FRACTION not in number.tags:
            _note(m, number.tags, site)


def taken(m: Core, values: Iterable[Value], site: Site) -> None:
    """Some tensors become weights or their gradient, or are differentiated: of sums they may be made, too."""
    for value in values:
        number = sum_in(value)
        if number is not None:
            _note(m, number.tags, site)


def changed_by(m: Core, t: Tensor, values: Iterable[Value], site: Site) -> None:
    """A tensor is changed in place by what sums may be in: a weight or its gradient trains, others know of the sum."""
    given = [value for value in values if sum_in(value) is not None]
    if t.leaf_node is not None or t.grad_of is not None or t.data_of is not None:
        taken(m, given, site)
        trained(m, site)
    else:
        marked(t, *given)


def is_trained(value: Value) -> bool:
    """Whether a value has history, or is made of a gradient: what is computed of it may train."""
    return (isinstance(value, (Tensor, Opaque)) and value.node is not None) or bool(gradients_in([value]))


def computed_with(m: Core, values: Iterable[Value], site: Site) -> None:
    """Something that trains is made, or computed, with some values: `clip_grad_norm_(weights, mean)`."""
    tags = {tag for value in values if type(value) not in (Tensor, Opaque) for tag in tags_in(value)}
    if ROUNDED in tags:
        _note(m, frozenset(tags), site)


def picked(m: Core, element: Value, this: Mapping | Sequence, index: Value, site: Site) -> Value:
    """What stands at a place that was computed from a sum, `rates[worse]`: where it goes to may steer the training.

    Of numbers it may be any, and is told as one that counts how a test went.
    """
    if type(index) is not Sym or ROUNDED not in index.tags:
        return element
    statement = m.trail[-1][0] if m.trail else None
    if isinstance(statement, TAKING) and (site.node in called_in(statement) or _goes_to(m.trail)):
        _note(m, index.tags, site)
    others = [value for _, value in this.items.values()] if isinstance(this, Mapping) else this.items
    return m.fresh("number", tags=frozenset({ROUNDED})) if all(map(is_number, others)) else element


def moved(m: Core, values: Iterable[Value], site: Site) -> None:
    """An element is taken from a list, or comes in, at a place that a sum says: what goes over the list may train."""
    tags = frozenset(tag for value in values if type(value) is Sym for tag in value.tags)
    if ROUNDED in tags and m.trail and isinstance(m.trail[-1][0], TAKING) and _goes_to(m.trail):
        _note(m, tags, site)


def counted(m: Core, values: Iterable[Value], site: Site) -> None:
    """A loop runs as often as a sum says, `for _ in range(int(total))`: what it does may steer the training.

    So may the number of batches that are taken: `batches[:n]`, `islice(batches, n)`. See `trained`. What is kept,
    `steps = range(int(total))`, steers by the loop that goes over it.
    """
    tags = frozenset(tag for value in values if type(value) is Sym for tag in value.tags)
    if not (ROUNDED in tags and m.trail):
        return
    loop, frame = m.trail[-1]
    frame.went[loop, ROUNDED] = True
    if isinstance(loop, (ast.AnnAssign, ast.Assign, ast.Return)) and _goes_to(m.trail):
        _note(m, tags, site)
    if not isinstance(loop, (ast.For, ast.AsyncFor)) or not stands_in(site.node, loop.iter):
        return
    if any(steers(n) for statement in loop.body for n in walk(statement) if isinstance(n, ast.Call)):
        _note(m, tags, site)


def trained(m: Core, site: Site) -> None:
    """Inside of what a sum was asked for, something is differentiated or stepped, or a weight is changed in place.

    The sum says whether that is done, or how often.
    """
    if any(_asks_sum(statement, frame) for statement, frame in m.trail if frame.went):
        _note(m, frozenset({ROUNDED}), site)


def _asks_sum(statement: ast.stmt, frame: Frame) -> bool:
    """Whether a sum was asked for at the head of a block, or chose what is asked for there."""
    if (statement, ROUNDED) in frame.went:
        return True
    has_blocks = hasattr(statement, "body") or isinstance(statement, ast.Match)
    return has_blocks and any((n, ROUNDED) in frame.went for n in asked_at_its_head(statement))


def ordered(m: Core, values: Iterable[Value], site: Site) -> None:
    """Some values are compared to be put in order, or to find the least: what is picked so may steer the training."""
    if not m.trail or not any(ROUNDED in tags_in(value) for value in values):
        return
    statement = m.trail[-1][0]
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        m.trail[-1][1].went[statement, ROUNDED] = True
    if (isinstance(statement, TAKING) or _is_head(statement, site.node)) and _goes_to(m.trail):
        _note(m, frozenset(tag for value in values for tag in tags_in(value)), site)


def _is_head(statement: ast.stmt, node: ast.AST | None) -> bool:
    return isinstance(statement, (ast.For, ast.AsyncFor)) and stands_in(node, statement.iter)


def made_with_rate(m: Core, values: Iterable[Value], site: Site) -> None:
    """An optimizer is made: its rate may be picked by a sum, `SGD(weights, lr=rates[int(total > 1)])`."""
    tags = frozenset(tag for value in values for each in _rates_in(value) for tag in each.tags)
    if ROUNDED in tags or any((statement, ROUNDED) in frame.went for statement, frame in m.trail if frame.went):
        _note(m, frozenset({ROUNDED}), site)


def _rates_in(value: Value) -> Iterator[Sym]:
    """A number, or the rates of groups: `[{"params": weights, "lr": rate}]`."""
    if type(value) is Sym:
        yield value
    groups = value.items if isinstance(value, Sequence) else ()
    for _, rate in (pair for group in groups if isinstance(group, Mapping) for pair in group.items.values()):
        if type(rate) is Sym:
            yield rate


def _note(m: Core, tags: frozenset[object], site: Site) -> None:
    """What Python makes of a number and of a tensor alike is told by nothing else than the place where it steers.

    So is what is read of one, `float(total)`, which may be known to go where a tensor may be wanted.
    """
    m.escapes.append(Escape((), Site(site.node, site.scope), m.tick(), "test", tags | {site.node}))


@kept
def _choices(statement: ast.stmt) -> list[ast.IfExp]:
    """Where a simple statement, or the head of a loop, chooses between two values."""
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return [n for n in walk(statement.iter) if isinstance(n, ast.IfExp)]
    return [] if hasattr(statement, "body") else [n for n in walk(statement) if isinstance(n, ast.IfExp)]


def _chooses(trail: Trail, chosen: ast.IfExp) -> bool:
    """Whether it steers the training which of two values a statement takes."""
    if any(steers(n) for branch in (chosen.body, chosen.orelse) for n in walk(branch)):
        return True
    return _goes_to(trail)


def _goes_to(trail: Trail) -> bool:
    """Whether the value that the innermost statement of some takes steers the training."""
    statement, frame = trail[-1]
    if isinstance(statement, ast.Return):
        callers = [place for place, (_, there) in enumerate(trail) if there is not frame]
        return bool(callers) and _goes_to(trail[: callers[-1] + 1])
    if isinstance(statement, TESTS):
        loop = next((at for at, there in reversed(trail[:-1]) if there is frame and isinstance(at, LOOPS)), None)
        if (loop is not None and skips(statement, loop)) or is_steering(statement):
            return True
        return _go_on(trail, counted_in(statement)) or _trains_by_names(trail)
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return repeats_training(statement)
    if isinstance(statement, ast.Expr):
        return any(steers(n) for n in walk(statement)) or _trains_by_names(trail)
    targets = targets_of(statement)
    names = frozenset(spelled(n) for t in targets for n in walk(t) if isinstance(n, NAMES) and not _is_read(n))
    return any(is_rate(n) for t in targets for n in walk(t)) or _go_on(trail, names) or _trains_by_names(trail)


def _trains_by_names(trail: Trail) -> bool:
    """Whether what the innermost statement binds ends in what trains, or what it saves is loaded again.

    What it has chosen is noted: it may be asked for where something trains out of sight.
    """
    statement, frame = trail[-1]
    module = frame.top.module
    function = frame.function.node if frame.function is not None else None
    around = function or (module.tree if module is not None else statement)
    names = read_on(around, statement)
    frame.went.update(dict.fromkeys(((name, ROUNDED) for name in names), True))
    file = module.tree if module is not None else around
    if not names.isdisjoint(names_that_train(around)):
        return True
    families = [cls for cls in classes_in(file) if function in cls.body] if function is not None else []
    kept_on = frozenset(name for name in set_by(statement) if "." in name)
    if any(not kept_on.isdisjoint(names_that_train(cls)) for cls in families):
        return True
    if families and _attributes_in(kept_on) & _attributes_in(names_that_train(file)):
        return True  # `model.load_state_dict(stopper.weights)`
    if isinstance(statement, TESTS) and saves_what_is_loaded(around, file, statement):
        return True
    callers = [place for place, (_, there) in enumerate(trail) if there is not frame]
    returned = bool(callers) and not names.isdisjoint(returned_by(around))
    return returned and _goes_to(trail[: callers[-1] + 1])


def _attributes_in(names: frozenset[str]) -> set[str]:
    """`weights` of `self.weights`, by whatever name the object goes."""
    parts = (name.rpartition(".") for name in names)
    return {attribute for owner, _, attribute in parts if owner.isidentifier() and attribute.isidentifier()}


def _is_read(n: ast.Name | ast.Attribute | ast.Subscript) -> bool:
    return isinstance(n.ctx, ast.Load)


def _go_on(trail: Trail, names: frozenset[str]) -> bool:
    """Whether what the innermost statement sets is asked for later where it steers the training, or by its caller."""
    statement, frame = trail[-1]
    function = frame.function.node if frame.function is not None else None
    around = [function] if function is not None else _outside_of_functions(frame, statement)
    if any(not names.isdisjoint(asked_by_steering(part)) for part in around):
        return True
    callers = [place for place, (_, there) in enumerate(trail) if there is not frame]
    if not callers or function is None or names.isdisjoint(returned_by(function)):
        return False
    return _goes_to(trail[: callers[-1] + 1])


def _outside_of_functions(frame: Frame, statement: ast.stmt) -> list[ast.stmt]:
    """The statements of a file beside its functions and classes, which have names of their own."""
    module = frame.top.module
    body: list[ast.stmt] = module.tree.body if module is not None else [statement]
    return [part for part in body if not isinstance(part, DEFINITIONS)]


def _asked_first(value: ast.expr) -> list[ast.expr]:
    """`total < best` of `total < best or scheduler.step()`."""
    return value.values[:-1] if isinstance(value, ast.BoolOp) else []
