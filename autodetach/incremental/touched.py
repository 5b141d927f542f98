"""Which parts of a program the edits since its last analysis touch, and what is to be run to look at these alone."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.incremental.follow import Patch
from autodetach.incremental.reparse import end_of, start_of
from autodetach.machine.children import nodes_in
from autodetach.machine.closures import free_names
from autodetach.machine.parts import Part, Selection
from autodetach.machine.run import Run
from autodetach.node_types import FUNCTIONS

WORTH = 0.7
"""What the parts may cost that are looked at alone, of all: they are run once more with the others."""


class Touched:
    """The functions that edits touch, and the parts that call them, of the default path of the last analysis."""

    def __init__(self, run: Run) -> None:
        self._parts = tuple(run.parts)
        self._functions: set[ast.AST] = set()
        self._is_lost = False

    def note(self, patch: Patch) -> None:
        """Take note of an edit. Where it is in no function, anything may be touched."""
        function = outermost(patch.around)
        if function is None:
            self._is_lost = True
        else:
            self._functions.add(function)

    @property
    def is_nothing(self) -> bool:
        """Whether no part is touched."""
        return not self._is_lost and not self._touched()

    def selection(self) -> Selection | None:
        """What is to be run, the body of the module included; None if that is all, or not much less."""
        if self._is_lost:
            return None
        touched = self._touched()
        others = [part for part in self._parts if part not in touched]
        wanted = [*touched, *_needed(touched, others)]
        if sum(part.cost for part in wanted) > WORTH * sum(part.cost for part in self._parts):
            return None
        without = {part.of for part in others if isinstance(part.of, ast.stmt) and part not in wanted}
        return Selection(without, {part.of for part in touched if isinstance(part.of, str)})

    def lines(self, run: Run) -> tuple[tuple[int, int], ...]:
        """The first and last lines of the functions that no others run than the parts that are touched, now or before.

        Of these, the `run` of what is selected tells everything.
        """
        touched = self._touched()
        functions = set[ast.AST]().union(*(part.functions for part in (*touched, *run.parts)))
        functions -= set[ast.AST]().union(*(part.functions for part in self._parts if part not in touched))
        return tuple(sorted((start_of(f), end_of(f)) for f in functions if isinstance(f, FUNCTIONS)))

    def _touched(self) -> list[Part]:
        """The parts that call such functions, or use what statements among these give a name."""
        found = [part for part in self._parts if not part.functions.isdisjoint(self._functions)]
        others = [part for part in self._parts if part not in found]
        while True:
            given = set[str]().union(*map(_given_by, found))
            more = [part for part in others if not _read_in(part).isdisjoint(given)]
            if not more:
                return found
            found += more
            others = [part for part in others if part not in more]


def outermost(around: Iterable[ast.AST]) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function in a module, or in a class of one, in which all the rest is that leads to an edit."""
    for node in around:
        if isinstance(node, FUNCTIONS):
            return node
        if not isinstance(node, (ast.Module, ast.ClassDef)):
            break
    return None


def _needed(touched: Iterable[Part], others: Iterable[Part]) -> list[Part]:
    """Of other statements, those that give names to what is used in parts, or in further ones that these need."""
    found: list[Part] = []
    used = set[str]().union(*map(_read_in, touched))
    while True:
        more = [part for part in others if part not in found and not _given_by(part).isdisjoint(used)]
        if not more:
            return found
        found += more
        used = used.union(*map(_read_in, more))


def _read_in(part: Part) -> set[str]:
    """The names that a part has from its module."""
    names = set[str]().union(*map(free_names, part.functions))
    return names if isinstance(part.of, str) else names.union(_names(part.of, ast.Load))


def _given_by(part: Part) -> set[str]:
    """The names that a part gives to something in its module."""
    return set() if isinstance(part.of, str) else _names(part.of, ast.Store)


def _names(statement: ast.stmt, context: type[ast.expr_context]) -> set[str]:
    return {node.id for node in nodes_in(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, context)}
