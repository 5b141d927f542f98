"""Networks that something else trains than the loop in which they keep what grows: the loop only looks at them."""

from __future__ import annotations

import ast

from autodetach.machine.activations import pass_of
from autodetach.machine.graph import places_in, trail_of
from autodetach.machine.growth import Growth, trains
from autodetach.machine.module_tree import is_module
from autodetach.machine.program_values import Frame
from autodetach.machine.restraints import NetworkGiven
from autodetach.machine.run import Analysis


def may_be_trained_out_of_view(analysis: Analysis, growth: Growth) -> bool:
    """Whether a method keeps it of a network that code out of view is given, which may differentiate it there.

    Where the loop in which it grows trains the network, only what is there to train may do so as well.
    """
    given = [fact for run in analysis.distinct for fact in run.machine.restraints if isinstance(fact, NetworkGiven)]
    given = [fact for fact in given if _is_kept_in(fact.codes, growth)]
    return any(fact.trains for fact in given) or (bool(given) and not _is_trained_here(given, growth))


def _is_kept_in(codes: frozenset[ast.AST], growth: Growth) -> bool:
    if any(frame.function is not None and frame.function.node in codes for frame in _open_at(growth)):
        return True
    stored = growth.stored
    return stored is not None and any(node is stored.site.node for code in codes for node in ast.walk(code))


def _is_trained_here(given: list[NetworkGiven], growth: Growth) -> bool:
    """Whether the loop steps parameters by a gradient that was computed with methods of such a network."""
    codes = {code for fact in given for code in fact.codes}
    for step in growth.run.machine.steps:
        if step.what == "grad" or pass_of(step.loops, growth.activation) is None:
            continue
        walked = {node for _, differentiations in step.consumed for d in differentiations for node in d.walked}
        frames = (frame for node in walked for _, frame in trail_of(node) if isinstance(frame, Frame))
        if any(frame.function is not None and frame.function.node in codes for frame in frames):
            return True
    return False


def is_only_shown(analysis: Analysis, growth: Growth) -> bool:
    """Whether a script takes a network through a few steps, of which the program differentiates others than these.

    So a notebook shows what a decoder does, before it trains with it.
    """
    frame, link = growth.activation.frame, growth.link
    if not isinstance(frame, Frame) or frame.function is not None or link is None or growth.linear:
        return False
    if not growth.activation.bounded or trains(growth.run, growth.activation):
        return False
    if not any(is_module(open_.this) for open_ in _open_at(growth)):
        return False
    place = link.site.node
    return any(node.site.node is place and node.walked_by for run in analysis.distinct for node in run.machine.nodes)


def _open_at(growth: Growth) -> list[Frame]:
    """The calls that are open where it grows; of what is put into a container, those around that place."""
    if growth.stored is not None:
        places = list(places_in(growth.stored.chain))
    else:
        places = list(trail_of(growth.link or growth.node))
    return [frame for _, frame in places if isinstance(frame, Frame)]
