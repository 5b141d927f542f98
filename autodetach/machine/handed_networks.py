"""Networks that code out of view is given, which may train them by whatever their methods compute.

So it is with a trainer of a library, or of a file that is not at hand: `Trainer(model, loss, optimizer)`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from autodetach.machine.classes import methods_of
from autodetach.machine.core import Core
from autodetach.machine.held import contents
from autodetach.machine.marks import OPTIMIZER
from autodetach.machine.module_tree import is_module, modules_of
from autodetach.machine.program_values import Instance, Method
from autodetach.machine.restraints import NetworkGiven
from autodetach.machine.values import Mapping, Opaque, Sequence, Value

TRAINS_NOTHING = frozenset(
    """
    summary save load print show plot draw graph count describe info init initialize initialise optim opt optimizer
    optimizers scheduler profile export num params parameters size flops macs complexity stats log watch visualize
    visualise eval evaluate evaluation test validate validation ema average averaged groups decay convert clip freeze
    unfreeze toggle device restore resume
    """.split()
)
"""Words in the names of what only looks at a network, keeps it in a file, or makes what others train it with."""
TRAINS = frozenset(
    """
    train trains trainer training pretrain retrain finetune fit fitter learn learner learning adapt adaptation step
    loss losses likelihood prob objective criterion
    """.split()
)
"""Words in the names of what trains a network, or computes what it is trained by, whatever else these say."""
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
DEPTH = 2


def note_networks(m: Core, values: list[Value], name: str) -> None:
    """Note the networks in view among some values, or in what holds them, that code out of view is given.

    What the method of a network hands on are its own parts, which it computes with.
    """
    networks = list(networks_in(values, DEPTH))
    if not networks:
        return
    words = words_of(name)
    trains = not TRAINS.isdisjoint(words)
    if not (trains or TRAINS_NOTHING.isdisjoint(words)):
        return
    if m.trail and is_module(m.trail[-1][1].this):
        return
    codes = dict.fromkeys(code for network in networks for code in _codes_of(network))
    if codes:
        m.restraints.append(NetworkGiven(frozenset(codes), trains or _has_optimizer(values)))


def words_of(name: str) -> set[str]:
    return {word.lower() for word in WORD.findall(name)}


def networks_in(values: list[Value], depth: int) -> Iterator[Instance]:
    for value in values:
        one = value.this if isinstance(value, Method) else value
        if isinstance(one, Instance) and is_module(one):
            yield one
        elif depth and isinstance(one, (Sequence, Mapping)):
            yield from networks_in(contents(one), depth - 1)
        elif depth and isinstance(one, Instance):
            yield from networks_in(list(one.attrs.values()), depth - 1)


def _has_optimizer(values: list[Value]) -> bool:
    parts = [part for v in values if isinstance(v, (Sequence, Mapping)) for part in contents(v)]
    return any(isinstance(v, (Instance, Opaque)) and OPTIMIZER in v.attrs for v in (*values, *parts))


def _codes_of(network: Instance) -> Iterator[ast.AST]:
    """The methods of a network, and of all below it, as far as they are in view."""
    for module in modules_of(network):
        yield from (method.node for method in methods_of(module.cls))
