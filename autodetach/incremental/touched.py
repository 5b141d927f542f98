"""Which parts of a program the edits since its last analysis touch, and what is to be run to look at these alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autodetach.incremental.follow import Patch
from autodetach.incremental.reparse import end_of, start_of
from autodetach.machine import values
from autodetach.machine.children import nodes_in
from autodetach.machine.closures import free_names
from autodetach.machine.parts import Part, Selection
from autodetach.machine.program_values import Instance
from autodetach.machine.run import Run
from autodetach.node_types import FUNCTIONS, FunctionNode
from autodetach.source import Lines

WORTH = 0.7
"""What the parts may cost that are looked at alone, of all: they are run once more with the others."""
CHANGEABLE = (Instance, values.Mapping, values.Opaque, values.Sequence, values.Tensor)


@dataclass(frozen=True, eq=False, slots=True)
class _Use:
    """A part, the names that it reads of its module, and those that it gives to something, or may change."""

    part: Part
    reads: frozenset[str]
    gives: frozenset[str]


class Touched:
    """The functions that edits touch, and the parts that call them, of the default path of the last analysis."""

    def __init__(self, run: Run) -> None:
        names = run.machine.globals.names.items()
        data = frozenset(name for name, value in names if isinstance(value, CHANGEABLE))
        self._uses = [_use(part, data) for part in run.parts]
        self._functions: set[ast.AST] = set()
        self._is_lost = False

    def note(self, patch: Patch) -> None:
        """Take note of an edit. Where it is in no function, anything may be touched."""
        function = outermost(patch.around)
        if function is None:
            self._is_lost = True
        else:
            self._functions.add(function)

    def look(self) -> Look | None:
        """What the edits touch, as far as it can be looked at alone: None where that is all, or not much less."""
        if self._is_lost:
            return None
        touched = self._touched()
        wanted = [*touched, *_needed(touched, _without(self._uses, touched))]
        others = _without(self._uses, wanted)
        if sum(use.part.cost for use in wanted) > WORTH * sum(use.part.cost for use in self._uses):
            return None
        selection = Selection(
            {use.part.of for use in others if isinstance(use.part.of, ast.stmt)},
            {use.part.of for use in touched if isinstance(use.part.of, str)},
        )
        return Look(selection, _functions_of(touched), _functions_of(_without(self._uses, touched)))

    def _touched(self) -> list[_Use]:
        """The parts that call such functions, or use what statements among these give a name, or change."""
        found = [use for use in self._uses if not use.part.functions.isdisjoint(self._functions)]
        while True:
            gives = frozenset[str]().union(*(use.gives for use in found))
            more = [use for use in _without(self._uses, found) if not use.reads.isdisjoint(gives)]
            if not more:
                return found
            found += more


@dataclass(frozen=True, slots=True)
class Look:
    """What is to be run; the functions of the parts that are touched, and those of all others."""

    selection: Selection
    touched: set[ast.AST]
    others: set[ast.AST]

    @property
    def is_at_nothing(self) -> bool:
        """Whether no part is touched: nothing is to be run."""
        return not self.touched

    def lines(self, run: Run) -> Lines:
        """The first and last lines of the functions that no others run than the parts that are touched, now or before.

        Of these, the `run` of what is selected tells everything.
        """
        now = set[ast.AST]().union(*(part.functions for part in run.parts))
        functions = (self.touched | now) - self.others
        return tuple(sorted((start_of(f), end_of(f)) for f in functions if isinstance(f, FUNCTIONS)))


def outermost(around: Iterable[ast.AST]) -> FunctionNode | None:
    """The function in a module, or in a class of one, in which all the rest is that leads to an edit."""
    for node in around:
        if isinstance(node, FUNCTIONS):
            return node
        if not isinstance(node, (ast.Module, ast.ClassDef)):
            break
    return None


def _needed(touched: Sequence[_Use], others: Sequence[_Use]) -> list[_Use]:
    """Of other statements, those that give names to what is used, or change it, or to what they use themselves."""
    found: list[_Use] = []
    while True:
        reads = frozenset[str]().union(*(use.reads for use in (*touched, *found)))
        more = [use for use in _without(others, found) if not use.gives.isdisjoint(reads)]
        if not more:
            return found
        found += more


def _without(uses: Iterable[_Use], some: Sequence[_Use]) -> list[_Use]:
    return [use for use in uses if use not in some]


def _functions_of(uses: Iterable[_Use]) -> set[ast.AST]:
    return set[ast.AST]().union(*(use.part.functions for use in uses))


def _use(part: Part, data: frozenset[str]) -> _Use:
    reads = frozenset(name for function in part.functions for name in free_names(function))
    if isinstance(part.of, str):
        return _Use(part, reads, frozenset())
    names = [node for node in nodes_in(part.of) if isinstance(node, ast.Name)]
    loaded = frozenset(name.id for name in names if isinstance(name.ctx, ast.Load))
    stored = frozenset(name.id for name in names if not isinstance(name.ctx, ast.Load))
    return _Use(part, reads | loaded, stored | (loaded & data))
