"""Networks and parameters that code out of view is given, which may read their gradient behind every backward call.

So do monitors, loggers, and what is told by hooks that it registers itself: `wandb.watch(net)`, `GradMonitor(net)`.
"""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.handed_networks import DEPTH, TRAINS_NOTHING, networks_in, note_networks, words_of
from autodetach.machine.held import contents
from autodetach.machine.module_tree import is_module, parameters_of
from autodetach.machine.program_values import Class, External, Function, Iterable
from autodetach.machine.renewed_elsewhere import note_callable
from autodetach.machine.restraints import GradientWatched
from autodetach.machine.values import CONSTANT_TYPES, Mapping, Opaque, Sequence, Sym, Tensor, Value

LOOKS = frozenset("show print plot draw profile stats log watch visualize visualise clip".split())
"""Words in the names of what trains no network, but may look at its gradient."""
WATCHES = frozenset(
    "watch watcher watches watching monitor monitors track tracker hook hooks grad grads gradient gradients".split()
)
"""Words in the names of what is there to look at gradient, whoever calls it, and wherever it comes from."""

HOLD_NONE = frozenset({*CONSTANT_TYPES, Sym, Opaque, External, Function, Class})
"""Kinds of values in which no network and no parameter is found."""


def note_given(m: Core, values: list[Value], name: str, site: Site) -> None:
    """Note what networks and parameters code out of view is given: it may train them, and read their gradient."""
    note_networks(m, values, name)
    note_callable(m, values)
    note_watched(m, values, name, site)


def note_watched(m: Core, values: list[Value], name: str, site: Site, *, if_named: bool = False) -> None:
    """Note the leaves of what code out of view is given, as if a hook were told of their gradient from now on.

    What only looks at weights does not count, nor does the method of a network that hands on its own parts;
    `if_named`: nor does what is not named as what reads gradient.
    """
    if HOLD_NONE.issuperset(map(type, values)):
        return  # mostly: asked of each call of what is unknown
    words = words_of(name)
    if WATCHES.isdisjoint(words):
        idle = not TRAINS_NOTHING.isdisjoint(words - LOOKS)
        if idle or if_named or (m.trail and is_module(m.trail[-1][1].this)):
            return
    leaves = [t for network in networks_in(values, DEPTH) for t in parameters_of(network)]
    if WATCHES.isdisjoint(words):
        values = [value for value in values if not isinstance(value, Tensor)]  # a weight that something computes with
    leaves += _listed(m, values, site, DEPTH)
    nodes = tuple(dict.fromkeys(t.node for t in leaves if t.node is not None and t.node.leaf))
    noted = (f for f in m.restraints if isinstance(f, GradientWatched) and f.site.node is site.node)
    if nodes and not any(fact.nodes == nodes for fact in noted):
        m.restraints.append(GradientWatched(site, nodes, m.clock))


def _listed(m: Core, values: list[Value], site: Site, depth: int) -> Iterator[Tensor]:
    """Tensors among some values and in lists of them, and the parameters that a network lists, not used up by it."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif depth and isinstance(value, (Sequence, Mapping)):
            yield from _listed(m, contents(value), site, depth - 1)
        elif isinstance(value, Iterable) and not value.once and value.name.endswith("parameters"):
            yield from _listed(m, m.collect(value, site)[0], site, 1)
