"""What a function of an imported file returns: programs that are not in view may train with it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from autodetach.candidates.called_out_of_view import doubt_of_callers, is_evaluated, wants_tensor
from autodetach.candidates.loss_of_kept import doubt_of_loss
from autodetach.machine.children import walk
from autodetach.machine.graph import trail_of
from autodetach.machine.growth import Growth, is_returned
from autodetach.machine.module_tree import is_module
from autodetach.machine.program_values import Frame
from autodetach.machine.spelling import last_word
from autodetach.node_types import FUNCTIONS
from autodetach.once import once
from autodetach.suspect import Candidate
from autodetach.view.program import Program

TRAINED = "other programs may train with what this function of an imported file returns"
TRAINED_NETWORK = "other programs may train with what this network returns"
MAKES_BATCHES = "other programs may train with the batches that this function makes"
MAKERS = frozenset("collate_fn __getitem__ __getitems__ __iter__".split())
"""What a `DataLoader` calls: https://docs.pytorch.org/docs/stable/data.html"""


def with_doubt(program: Program, growth: Growth, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """The candidates, in doubt where an imported function hands back what grows, with a graph that is still whole."""
    doubt = TRAINED if _may_train_others(program, growth) else None
    if _is_in_batches(program, growth):
        doubt = MAKES_BATCHES
    elif _is_result_of_idle_network(program, growth):
        doubt = doubt or TRAINED_NETWORK
    doubt = doubt or doubt_of_callers(program, growth)
    is_tensor: bool | None = None
    tried = doubt_of_loss(growth) if doubt is None else None
    for candidate in candidates:
        if candidate.prefers == "item" and doubt is None:
            is_tensor = wants_tensor(program, growth) if is_tensor is None else is_tensor
            if is_tensor:
                continue
        yield replace(candidate, doubt=candidate.doubt or doubt or tried)


def is_in_imported_loop(program: Program, growth: Growth) -> bool:
    """Whether an imported file has the loop in which something grows, wherever that is computed."""
    loop = growth.activation.node
    return loop is not None and program.is_imported(loop)


def is_step_of_shared_network(program: Program, growth: Growth) -> bool:
    """Whether the graph, still whole, is made in a step of a network in an imported file, and its caller has the loop.

    A cut there takes gradient from whoever trains through the network: only the loop that looks at it may do without.
    """
    frame, place = growth.activation.frame, growth.node.site.node
    if growth.dead or not isinstance(frame, Frame) or not program.is_imported(place):
        return False
    return _is_of_a_step(program, place, frame) and any(_is_of_network(f) for _, f in trail_of(growth.node))


def _is_of_network(frame: object) -> bool:
    return isinstance(frame, Frame) and is_module(frame.this)


def _may_train_others(program: Program, growth: Growth) -> bool:
    frame = growth.activation.frame
    if growth.dead or not isinstance(frame, Frame):
        return False
    place = growth.stored.site.node if growth.stored is not None else growth.node.site.node
    if program.is_imported(place):
        if _is_of_a_step(program, place, frame):
            return True
    elif not is_in_imported_loop(program, growth):
        return False
    if frame.outer is None:
        return False
    if is_evaluated(growth) and not is_module(frame.this):
        return False
    return is_returned(growth.run, growth.node, frame)


def _is_result_of_idle_network(program: Program, growth: Growth) -> bool:
    """Whether a network returns it that nothing in view trains: whoever imports its class will."""
    frame = growth.activation.frame
    if growth.dead or not isinstance(frame, Frame) or not is_module(frame.this):
        return False
    if any(run.machine.differentiations for run in program.analysis.runs):
        return False
    return is_returned(growth.run, growth.node, frame)


def _is_in_batches(program: Program, growth: Growth) -> bool:
    """Whether it goes into the batches of a data set, in a program that trains nothing: others have them, too."""
    frame = growth.activation.frame
    if not isinstance(frame, Frame) or growth.run.machine.differentiations:
        return False
    name = frame.qualname.rpartition(".")[2]
    return name in MAKERS or name in _collating(program)


@once
def _collating(program: Program) -> frozenset[str]:
    """What is given as `collate_fn`, by the last word."""
    nodes = (node for tree in program.analysis.trees for node in walk(tree))
    given = (node.value for node in nodes if isinstance(node, ast.keyword) and node.arg == "collate_fn")
    return frozenset(map(last_word, given))


def _is_of_a_step(program: Program, place: ast.AST, frame: Frame) -> bool:
    """Whether it is made in a function that returns something, and whose caller has the loop: a cell, a time step."""
    function = program.scope(place)
    is_step = (
        isinstance(function, FUNCTIONS)
        and function.name != frame.qualname.rpartition(".")[2]
    )
    return is_step and any(isinstance(n, ast.Return) and n.value is not None for n in walk(function))
