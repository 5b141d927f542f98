"""Runs a program along one path: its statements, then what nobody in view calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from autodetach.kept import kept
from autodetach.machine.activations import Pass
from autodetach.machine.apart import Apart
from autodetach.machine.called_unseen import ask
from autodetach.machine.constructor_arguments import keep
from autodetach.machine.entries import (
    Calls,
    entries,
    functions_of,
    not_reached,
    number_of_entries,
)
from autodetach.machine.interpreter import Machine
from autodetach.machine.oracle import Policy
from autodetach.machine.parts import Part, Selection
from autodetach.machine.program_values import Instance, Namespace
from autodetach.machine.project import Project
from autodetach.machine.reach import Reach
from autodetach.machine.run import Analysis, Run, Stop
from autodetach.machine.settings import open_settings
from autodetach.machine.state import OutOfFuel, Raised
from autodetach.node_types import FUNCTIONS

if TYPE_CHECKING:
    from autodetach.machine.evidence import Evidence

T = TypeVar("T")

FUEL_PER_RUN = 30_000
"""Units of work, some sixty to the millisecond on the machine where this was measured."""
FUEL_WHERE_WATCHED = 2_000
"""What a path without a differentiation may cost before watching what its entry points notice is given up."""
MIN_ENTRIES = 3
"""With fewer entry points, watching whether others notice them costs more than it spares."""


def run_once(
    tree: ast.Module,
    policy: Policy,
    fuel: int,
    watch: Callable[[Machine, Pass], None] | None = None,
    project: Project | None = None,
    evidence: Evidence | None = None,
    *,
    watched: bool = False,
    called: frozenset[str] = frozenset(),
    left_whole: frozenset[ast.AST] = frozenset(),
    selection: Selection | None = None,
) -> Run:
    """One run: the module, then whatever nobody has called, nor the default path has `called`.

    A run that is `watched` serves `Paths` for others that differ from it in what nothing else notices. Of a
    `selection`, only that is run.
    """
    machine = Machine(policy, fuel)
    machine.evidence = evidence
    machine.left_whole = left_whole
    if project is not None:
        machine.project = project
        machine.globals.module = project.root
        own = machine.namespaces[project.root.path] = Namespace(project.root, machine.globals)
        own.begun = True
    if watch is not None:
        observer = watch
        machine.on_pass = lambda current: observer(machine, current)
    run = Run(policy, machine, fuel)
    if watched:
        run.apart = Apart(machine)
    try:
        machine.globals.names["__name__"] = "__main__"
        machine.globals.names["__file__"] = machine.fresh("str")
        try:
            without = () if selection is None else selection.without
            for statement in tree.body:
                if statement not in without:
                    run_part(run, statement, partial(machine.block, [statement], machine.globals))
        except Raised as error:
            run.stopped_by = error.name
            machine.break_off(0)
            run.stop = Stop(tree, tuple(error.ended), frozenset(machine.executed), len(machine.oracle.decisions))
        run.started = frozenset(f.qualname for f in functions_of(machine) if f.called)
        run.called = run.started  # all that is known if the budget ends in an entry point
        open_settings(machine, tree, machine.globals)
        reach = reach_of(tree, project)
        elsewhere = called if policy.flips else frozenset()
        calls = Calls(elsewhere, not_reached(machine, reach) if run.stopped_by else frozenset())
        run_entries(run, reach, calls, None if selection is None else selection.entries)
        run.called = frozenset(f.qualname for f in functions_of(machine) if f.called) - frozenset(run.entries)
    except OutOfFuel:
        run.finished = False
    except RecursionError:
        run.finished = False
    ask(machine)
    return run


def run_again(
    analysis: Analysis,
    policy: Policy,
    watch: Callable[[Machine, Pass], None] | None = None,
    left_whole: frozenset[ast.AST] = frozenset(),
) -> Run:
    """A path of an analysed program, run once more, or beside those that were; it is kept among the replays.

    Where scalars are `left_whole`, an element is not taken of them.
    """
    again = run_once(
        analysis.tree,
        policy,
        FUEL_PER_RUN,
        watch,
        analysis.project,
        analysis.evidence,
        called=analysis.called,
        left_whole=left_whole,
    )
    analysis.replays.append(again)
    return again


def reach_of(tree: ast.Module, project: Project | None) -> Reach:
    """Reachability in all files that are loaded; kept with the tree as long as these are the same."""
    others = [] if project is None else [module.tree for module in project.modules if module.tree is not tree]
    known = _reach_beside(tree)
    if known.reach is None or known.others != others:
        known.others, known.reach = others, Reach([tree, *others])
    return known.reach


class _Beside:
    """Reachability in a file and others beside it, once that was asked for."""

    __slots__ = ("others", "reach")

    def __init__(self) -> None:
        self.others: list[ast.Module] = []
        self.reach: Reach | None = None


@kept
def _reach_beside(tree: ast.Module) -> _Beside:
    return _Beside()


def run_selected(tree: ast.Module, project: Project | None, selection: Selection) -> Analysis:
    """The default path of a program, of which only some parts are run."""
    run = run_once(tree, Policy(), FUEL_PER_RUN, project=project, selection=selection)
    return Analysis(tree, [run], project)


def run_part(run: Run, of: ast.stmt | str, do: Callable[[], T]) -> T:
    """Do a part of a run, and note what it calls."""
    ways = run.machine.ways
    begun, before = len(ways), run.cost
    try:
        return do()
    finally:
        functions = {node for node, _ in ways[begun:] if isinstance(node, FUNCTIONS)}
        if functions:
            run.parts.append(Part(of, functions, run.cost - before))


def run_entries(run: Run, reach: Reach, calls: Calls, names: Container[str] | None = None) -> None:
    """Functions and methods that nobody in view calls are called by somebody else; those of these names, or all."""
    made = {value.cls for value in run.machine.globals.names.values() if isinstance(value, Instance)}
    keep(run.machine, [cls for cls in run.machine.classes if cls not in made])
    if number_of_entries(run.machine, reach) < MIN_ENTRIES:
        run.apart = None
    for entry in entries(run.machine, reach, calls):
        if names is None or entry.name in names:
            run_part(run, entry.name, partial(watched, run, entry.run))


def watched(run: Run, entry: Callable[[], list[str]]) -> None:
    """Run an entry, and have others know what it does, as long as there may be others."""
    run.machine.begin_entry()
    if run.apart is not None and not run.machine.differentiations and run.cost > FUEL_WHERE_WATCHED:
        run.apart = None
    run.entries += entry() if run.apart is None else run.apart.run(entry)
