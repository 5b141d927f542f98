"""The functions of libraries that are not PyTorch, nor known by themselves: what they do with what they are given."""

from __future__ import annotations

from autodetach.machine import frameworks, progress_bars
from autodetach.machine.core import Core, tags_in
from autodetach.machine.graph import Site
from autodetach.machine.held import lost_by_arrays, tensors_in
from autodetach.machine.implicit_calls import show
from autodetach.machine.lent import note_lent
from autodetach.machine.marks import HELD, LEAVES, LEFT_OUT
from autodetach.machine.module_tree import is_module
from autodetach.machine.number_readers import of_sums, truth_of_sums, wanted
from autodetach.machine.optimizers import build_optimizer
from autodetach.machine.parameter_groups import leaves_of
from autodetach.machine.program_values import Instance
from autodetach.machine.quiet import COMPUTING, QUIET_MODULES, REPORTS
from autodetach.machine.state import MISSING
from autodetach.machine.steering import SEEDING, computed_with
from autodetach.machine.swallowing import is_taken
from autodetach.machine.tensor_factories import variable
from autodetach.machine.values import Sequence, Value
from autodetach.machine.watched_elsewhere import note_given, note_watched

WRAPPERS = frozenset(
    "DataParallel DistributedDataParallel DDP FullyShardedDataParallel compile script trace checkpoint_wrapper".split()
)
"""What wraps a network and calls it, or makes one of it that computes the same."""
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


def call_other(m: Core, path: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """A library that is not PyTorch."""
    name = path.rpartition(".")[2]
    top = path.lstrip(".").partition(".")[0]
    if path.startswith(("random.", "numpy.random.")):
        m.note_random(site)
    if name in SEEDING:
        computed_with(m, [*args, *kwargs.values()], site)
    known = frameworks.HANDLERS.get(path)
    if known is not None:
        return known(m, args, kwargs, site)
    if (name in REPORTS and top not in COMPUTING) or top in ("logging", "warnings"):
        from autodetach.machine.log_records import logged

        if top not in QUIET_MODULES:
            note_lent(m, [*args, *kwargs.values()])
        show(m, [*args, *kwargs.values()], site)
        logged(m, name, args, kwargs, site)
        return m.opaque(name) if name[:1].isupper() or name.startswith("get") else m.quiet(name)
    if top in OF_NUMBERS:
        m.only_numbers |= {tag for value in (*args, *kwargs.values()) for tag in tags_in(value)}
    tells = path in WRITERS or (name in TO_TEXT and is_taken(m, "TypeError"))
    if tells or not kwargs.keys().isdisjoint(ASKED_ABOUT_TYPES):
        wanted(m, [*args, *kwargs.values()], site, name)
    if path in PICKLED:
        return m.opaque(name)
    note_watched(m, [*args, *kwargs.values()], name, site, if_named=True)
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
        return variable(m, args, kwargs, site)
    is_left_out = path.rpartition(".")[0] in m.left_out
    if name[:1].isupper():
        held = [*args, *kwargs.values()]
        leaves = [leaf for v in held for leaf in leaves_of(m, v, site)]
        if leaves and not any(isinstance(v, Instance) and is_module(v) for v in held):
            stepped = build_optimizer(m, path, args, kwargs, site)
            note_watched(m, [stepped.attrs.get(LEAVES)], name, site)
            return stepped
        m.escape(held, site, name)
        if name not in WRAPPERS:
            note_given(m, held, name, site)
        for value in held:
            if isinstance(value, Instance) and is_module(value) and name in WRAPPERS:
                return value
        made = m.opaque(name)
        made.attrs[HELD] = Sequence("tuple", held, m.clock)
        if is_left_out:
            made.attrs[LEFT_OUT] = True
        return made
    if is_left_out:
        note_given(m, [*args, *kwargs.values()], name, site)
        return m.call_left_out(name, [*args, *kwargs.values()], site)
    return m.call_unknown(name, args, kwargs, site)
