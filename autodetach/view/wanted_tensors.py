"""Where tensors are wanted and a run has had numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.core import tags_in
from autodetach.machine.differentiated_numbers import NUMBER_REFUSED
from autodetach.machine.events import DataRead
from autodetach.machine.graph import Site
from autodetach.machine.program_values import External
from autodetach.machine.run import Run
from autodetach.machine.running import run_again
from autodetach.machine.values import Tensor
from autodetach.named_tuples import NamedTuple
from autodetach.view.program import Program

TAKING_NUMBERS = frozenset({"as_tensor", "asarray", "save", "scalar_tensor", "tensor", "type"})
"""Functions of PyTorch that take numbers as they take tensors, if to another end; `type` asks what it is."""
TAKING_BOTH = frozenset({"add_scalar", "append", "return", "test"})
"""What makes the same of a number and of a tensor, but for last digits, or hands it to nobody in view."""
REFUSED = frozenset({"type", NUMBER_REFUSED})
"""What Python has refused, by the kind of the fault."""
MAX_REPLAYS = 6
"""So often paths are run again."""


class Asked(NamedTuple):
    """What tells the numbers that are asked for what only `tensors` have, or are given to functions of tensors.

    `numbers` tells those that are read where tensors may not be. `is_cut`: an end hides what is asked behind it.
    `runs` are those that have shown it.
    """

    tensors: frozenset[object]
    numbers: frozenset[object]
    is_cut: bool
    runs: tuple[Run, ...]


def asked_as_tensors(program: Program) -> Asked:
    """What the program asks of the scalars of which it reads elements.

    Where a path ends since it asks a number for what only tensors have, it is run again with a tensor in its place.
    """
    runs = list(program.analysis.distinct)
    reads = frozenset(node for run in runs for node in _read(run))
    tensors = {tag for run in runs for tag in _asked(run)}
    waiting = [run for run in runs if _is_cut(run, reads)]
    for _ in range(MAX_REPLAYS):
        if not waiting:
            break
        whole = reads.intersection(tensors)
        again = run_again(program.analysis, waiting[0].policy, left_whole=whole)
        runs.append(again)
        reads = reads.union(_read(again))
        tensors |= _asked(again)
        if not _is_cut(again, reads):
            del waiting[0]
        elif reads.intersection(tensors) == whole:
            break
    numbers = {tag for run in runs for tag in (*run.machine.only_numbers, *_given_away(run))}
    return Asked(frozenset(tensors), frozenset(numbers), bool(waiting), tuple(runs))


def _read(run: Run) -> Iterator[ast.AST]:
    return (fact.site.node for fact in run.machine.facts if isinstance(fact, DataRead) and fact.raises)


def _is_cut(run: Run, reads: frozenset[ast.AST]) -> bool:
    """Whether a run ends where one of these numbers is asked for that: what is read behind it is not known."""
    return any(not reads.isdisjoint(_numbers_at(fault.site)) for fault in run.machine.broken_off)


def _asked(run: Run) -> set[object]:
    machine = run.machine
    tags = {tag for fault in machine.type_faults if fault.kind in REFUSED for tag in _numbers_at(fault.site)}
    for escape in machine.escapes:
        if escape.tags and (escape.how == "attribute" or _is_of_pytorch(escape.site, escape.how)):
            tags |= escape.tags
    return tags


def _given_away(run: Run) -> set[object]:
    """What tells the numbers that go where another thing may be done with a tensor."""
    tags: set[object] = set()
    for escape in run.machine.escapes:
        is_known = escape.how == "attribute" or escape.how in TAKING_BOTH
        if escape.tags and not is_known and not _is_of_pytorch(escape.site, escape.how):
            tags |= escape.tags
    return tags


def _numbers_at(site: Site) -> set[object]:
    return {tag for _, value in site.operands for tag in tags_in(value)}


def _is_of_pytorch(site: Site, name: str) -> bool:
    """Whether a function of PyTorch, or a method of a tensor, is called by its full name."""
    if name in TAKING_NUMBERS or not site.operands:
        return False
    owner = site.operands[0][1]
    return isinstance(owner, Tensor) or (isinstance(owner, External) and owner.path.partition(".")[0] == "torch")
