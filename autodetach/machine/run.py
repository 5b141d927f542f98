"""Runs a program along its paths and gathers what was seen."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container
from typing import TYPE_CHECKING, NamedTuple

from autodetach.kept import kept
from autodetach.machine.apart import Apart, Spoilt
from autodetach.machine.beginnings import Leads
from autodetach.machine.constructor_arguments import keep
from autodetach.machine.entries import (
    Calls,
    Entry,
    entries,
    find_instance,
    functions_of,
    not_reached,
    number_of_entries,
)
from autodetach.machine.graph import Node, Pass, Site
from autodetach.machine.interpreter import Machine
from autodetach.machine.oracle import Decision, Policy, TestKey, is_part, is_usual
from autodetach.machine.passed_by import passed_by
from autodetach.machine.project import Project
from autodetach.machine.reach import Reach
from autodetach.machine.settings import open_settings
from autodetach.machine.state import FUEL_FOR_IMPORTS, OutOfFuel, Raised
from autodetach.machine.surroundings import around
from autodetach.machine.values import Class, Frame, Namespace, may_be_no_tensor
from autodetach.machine.waiting import Kept, Waiting

if TYPE_CHECKING:
    from autodetach.machine.evidence import Evidence

FUEL_PER_RUN = 30_000
FUEL_PER_FILE = 60_000
"""Units of work, some sixty to the millisecond on the machine where this was measured."""
FUEL_WHERE_TRAINING = 8_000
FUEL_WHERE_QUIET = 2_000
"""What paths beyond the first may cost before anything is suspected, with a differentiation on some path or without.

Of 2,800 programs, 420 of them with findings, 12 showed one of these only beyond the first path: 10 of them for less
than 8,000. Of 5,000 files of popular repositories, none showed more for 6,000 where it is quiet than for 2,000.
"""
FUEL_FOR_IMPORTS_PER_FILE = 72_000
"""What the bodies of imported files may cost on all paths together: no more paths are looked at beyond that."""
MAX_PATHS = 24
NOWHERE = Site(ast.Pass(), "")
NO_FRAME = Frame(None, "")
MIN_ENTRIES = 3
"""With fewer entry points, watching whether others notice them costs more than it spares."""


class Stop(NamedTuple):
    """Where an error ended the program `tree`: the statements that it `ended`, and what had been `executed`.

    `decided`: so many tests had been met.
    """

    tree: ast.Module
    ended: tuple[ast.stmt, ...]
    executed: frozenset[ast.stmt]
    decided: int


class Run:
    """One path through the program, and what the machine saw on it; `fuel` is what it was given.

    `called` are the functions that the program, or an entry point, has called by itself, by their qualified names, and
    `started` those that the program has.
    `stopped_by` is the name of the error that ended it, if there is a `stop`.
    """

    __slots__ = ("apart", "called", "entries", "finished", "fuel", "machine", "policy", "started", "stop", "stopped_by")

    def __init__(self, policy: Policy, machine: Machine, fuel: int) -> None:
        self.policy = policy
        self.machine = machine
        self.fuel = fuel
        self.called: frozenset[str] = frozenset()
        self.started: frozenset[str] = frozenset()
        self.finished = True
        self.stopped_by = ""
        self.stop: Stop | None = None
        self.entries: list[str] = []
        self.apart: Apart | None = None

    def seen_as(self, policy: Policy, machine: Machine, fuel: int) -> Run:
        """What this one was to its end, as the path of another policy that leads to the same."""
        other = Run(policy, machine, fuel)
        other.called, other.started = self.called, self.started
        other.finished, other.stopped_by, other.stop = self.finished, self.stopped_by, self.stop
        other.entries = self.entries
        return other

    @property
    def cost(self) -> int:
        """The fuel that it took, imported files included."""
        return self.fuel - max(self.machine.fuel, 0) + FUEL_FOR_IMPORTS - self.machine.import_fuel

    @property
    def shows_history(self) -> bool:
        """Whether anything began a history, was differentiated, or may be worth a word."""
        machine = self.machine
        return bool(machine.differentiations or machine.facts) or any(n.leaf or not n.weak for n in machine.nodes)

    @property
    def is_quiet(self) -> bool:
        """Whether it came to its end, and began no history: an error hides what comes behind it."""
        return self.finished and not self.stopped_by and not self.shows_history

    @property
    def shows_faults(self) -> bool:
        """Whether there is any event that a rule answers to."""
        machine = self.machine
        return bool(
            machine.second_walks or machine.stale or machine.facts or machine.stored or machine.crossings
        ) or any(
            d.retain or any(len(n.walked_by) > 1 and not n.leaf for n in d.walked) for d in machine.differentiations
        )

    @property
    def trained(self) -> set[Node]:
        """The leaves whose gradient an optimizer's step or an update of the program has taken."""
        return {leaf for step in self.machine.steps if step.what != "grad" for leaf, _ in step.consumed}

    @property
    def is_usual(self) -> bool:
        """Whether it is the default path, or differs from that only in what some later passes do."""
        return all(way != "other" for _, way in self.policy.flips)

    @property
    def unsure(self) -> set[ast.AST]:
        """Where `item()` or `detach()` is called on what may be no tensor, whatever else is done with it."""
        return {place for place, value in self.machine.asked if may_be_no_tensor(value)}

    @property
    def whole(self) -> bool:
        """Whether nothing cut it short: neither the budget, nor what looks like a mistake of the program.

        Where Python refuses something, the mistake may be the machine's own: what comes later is not known.
        """
        return self.finished and not any(fault.kind == "type" for fault in self.machine.type_faults)


class Analysis:
    """All explored paths of a program, the default one first; `complete` is false when a budget cut that one short.

    `narrowed`: other paths were left out, since they lead to no place where history begins; see `beginnings`. `ended`:
    no further path will be run. `replays` are runs of the same paths once more, by those who wanted to watch them.
    """

    __slots__ = ("complete", "ended", "evidence", "narrowed", "project", "replays", "runs", "tree")

    def __init__(
        self,
        tree: ast.Module,
        runs: list[Run],
        project: Project | None = None,
        evidence: Evidence | None = None,
        replays: list[Run] | None = None,
    ) -> None:
        self.tree = tree
        self.runs = runs
        self.project = project
        self.evidence = evidence
        self.replays = [] if replays is None else replays
        self.complete = True
        self.narrowed = False
        self.ended = False

    def alone(self, run: Run) -> Analysis:
        """One path of it alone, beside which others may be run."""
        analysis = self._with([run], self.project)
        analysis.ended = False
        return analysis

    def within(self, project: Project) -> Analysis:
        """The same of a program whose other files were read again."""
        return self._with(self.runs, project)

    def _with(self, runs: list[Run], project: Project | None) -> Analysis:
        other = Analysis(self.tree, runs, project, self.evidence, self.replays)
        other.complete, other.narrowed, other.ended = self.complete, self.narrowed, self.ended
        return other

    @property
    def distinct(self) -> list[Run]:
        """The paths without those that are an earlier one by another name."""
        found: dict[int, Run] = {}
        for run in self.runs:
            found.setdefault(id(run.machine), run)
        return list(found.values())

    @property
    def called(self) -> frozenset[str]:
        """The functions that the program, or an entry point, calls by itself on its default path."""
        return self.runs[0].called

    @property
    def trees(self) -> list[ast.Module]:
        """Of all files that the program is made of, the analysed one first."""
        return [self.tree] if self.project is None else [module.tree for module in self.project.modules]


def dissolve(analysis: Analysis) -> None:
    """Cut an analysis that nobody needs any more to pieces; else it would stay until cycles are looked for."""
    for run in (*analysis.distinct, *analysis.replays):
        machine, run.apart = run.machine, None
        for node in machine.nodes:
            node.parents = node.operands = node.saved = node.loops = ()
            node.walked_by, node.grads = [], []
            node.chain = node.at = node.callee = None
            node.site = NOWHERE
        for d in machine.differentiations:
            d.walked, d.roots, d.operands, d.site, d.trail = [], (), (), NOWHERE, ()
        for frame in (*machine.scopes, *(space.frame for space in machine.namespaces.values())):
            for value in frame.names.values():
                if isinstance(value, Class):
                    value.order = None
            frame.names.clear()
            frame.top, frame.this, frame.returns = NO_FRAME, None, []
        for activation in machine.activations:
            activation.frame = None
        for tensor in machine.leaf_tensors:
            tensor.storage.changed, tensor.storage.trail = None, ()
        for container in machine.held:
            container.holder = None
        vars(machine).clear()


def analyse(
    tree: ast.Module,
    project: Project | None = None,
    evidence: Evidence | None = None,
    *,
    whole: bool = False,
    between: Callable[[Analysis], None] | None = None,
    suspected: Callable[[Analysis], bool] | None = None,
) -> Analysis:
    """Run a module along its paths.

    `tree` is that of the project's root; without a project, all imports are unknown. `evidence` is what a run has
    shown, and is kept with the analysis, for the programs that are compared with it. With `whole`, only the default
    path of a program of several files is run if it is cut short. `between` is called, without evidence, with what there
    is so far, before another path is run. `suspected` says whether what there is so far shows any fault: if not, few
    other paths are run.
    """
    if evidence is None:
        return _analyse(tree, project, None, whole, between, suspected)
    analysis = _analyse(tree, project, evidence.normalised(), whole)
    # What an argument brings from an earlier pass is nothing that the callee keeps, and a repair may not bring it.
    explained = {call for run in analysis.runs for call in run.machine.explained}
    if explained and analysis.evidence is not None:
        return _analyse(tree, project, analysis.evidence.without_carry(explained), whole)
    return analysis


def _analyse(
    tree: ast.Module,
    project: Project | None,
    evidence: Evidence | None,
    whole: bool,
    between: Callable[[Analysis], None] | None = None,
    suspected: Callable[[Analysis], bool] | None = None,
    *,
    apart: bool = True,
) -> Analysis:
    analysis = Analysis(tree, [], project=project, evidence=evidence)
    fuel, for_imports = FUEL_PER_FILE, FUEL_FOR_IMPORTS_PER_FILE
    left = fuel
    waiting, kept = Waiting(MAX_PATHS), Kept()
    paths = Paths(tree, project, evidence, apart=apart)
    leads: Leads | None = None
    put_off: list[Policy] = []
    leading: set[TestKey] = set()
    on_others = 0
    while waiting:
        if between is not None and len(analysis.runs) > 1:
            between(analysis)
        try:
            run = paths.run(waiting.next(), min(FUEL_PER_RUN, fuel or left))
        except Spoilt:
            dissolve(analysis)
            return _analyse(tree, project, evidence, whole, between, suspected, apart=False)
        fuel -= FUEL_PER_RUN - max(run.machine.fuel, 0) if fuel >= FUEL_PER_RUN else fuel
        left -= run.fuel - max(run.machine.fuel, 0)
        on_others += run.cost if analysis.runs else 0
        kept.note(run.machine.differentiations, run.machine.oracle)
        analysis.runs.append(run)
        if not run.finished and len(analysis.runs) == 1:
            analysis.complete = False  # the program itself was cut short, not only a variation of it
            if whole and project is not None and len(project.modules) > 1:
                break
        for_imports -= FUEL_FOR_IMPORTS - run.machine.import_fuel
        urgent = suspects(run) if len(analysis.runs) == 1 else []
        found = variants(run)
        is_quiet = len(analysis.runs) == 1 and evidence is None and run.is_quiet
        if len(analysis.runs) == 1:
            if between is not None and (urgent or found):
                between(analysis)  # others may show this while it is decided what to run beside it
            most = min(_most_paths(run, fuel), for_imports // max(FUEL_FOR_IMPORTS - run.machine.import_fuel, 1))
            if not is_quiet and len(found) > (most if suspected is None else min(most, _most_where_quiet(run))):
                past = passed_by(analysis.trees, run.machine.executed, run.called, run.machine.oracle)
                leading = {d.key for d in run.machine.oracle.decisions.values() if past.lie_behind(d)}
            found = _in_order(found, run, leading, all_of_them=len(found) <= most)
        if suspected is not None and (waiting or found) and not urgent and _is_enough(analysis, on_others):
            if suspected(analysis):
                suspected = None
            elif not _leads_on(analysis, waiting.first or found[0], leading, on_others):
                analysis.narrowed, analysis.ended = leads is not None or is_quiet, True
                return analysis
        if is_quiet:
            leads = Leads(tree, project, run.machine.executed)
        elif leads is not None and run.shows_history:
            leads = None
            waiting.add(put_off)
        if leads is not None:
            put_off += (policy for policy in found if not leads.further(policy.flips[-1][0]))
            found = [policy for policy in found if leads.further(policy.flips[-1][0])]
        waiting.add(urgent)
        waiting.add(found)
        # What is open about a graph that is kept is worth all of the budget.
        tests = kept.open()
        is_open = waiting.prefer(tests | leading if tests else tests) and left >= analysis.runs[0].cost
        if for_imports <= 0 or (fuel <= 0 and not is_open):
            break
    analysis.narrowed, analysis.ended = leads is not None, True
    return analysis


def _most_paths(run: Run, fuel: int) -> int:
    """How many paths may be run beside the first one, each of which costs about as much."""
    return min(MAX_PATHS, fuel // max(run.cost, 1))


def _most_where_quiet(run: Run) -> int:
    """As many, where nothing is suspected."""
    return (FUEL_WHERE_TRAINING if run.machine.differentiations else FUEL_WHERE_QUIET) // max(run.cost, 1)


def _in_order(found: list[Policy], run: Run, leading: Container[TestKey], *, all_of_them: bool) -> list[Policy]:
    """First the paths that lead to differentiations which the first one passes by.

    Where not all can be run, then those that are decided where that one differentiates.
    """
    near, decisions = around(() if all_of_them else run.machine.differentiations), run.machine.oracle.decisions

    def rank(policy: Policy) -> tuple[bool, bool]:
        key = policy.flips[-1][0]
        return key not in leading, not near.hold(decisions[key])

    return sorted(found, key=rank)


def _leads_on(analysis: Analysis, policy: Policy, leading: Container[TestKey], on_others: int) -> bool:
    """Whether a path may lead to differentiations where those so far show none, and does not cost too much for that."""
    first = analysis.runs[0]
    return (
        policy.flips[-1][0] in leading
        and first.finished
        and on_others + first.cost <= FUEL_WHERE_TRAINING
        and not any(run.machine.differentiations for run in analysis.runs)
    )


def _is_enough(analysis: Analysis, on_others: int) -> bool:
    """Whether paths beyond the first have cost what they may while nothing is suspected."""
    if any(run.machine.differentiations for run in analysis.runs):
        return on_others > FUEL_WHERE_TRAINING
    # Another path costs about what the first one did.
    return on_others + analysis.runs[0].cost > FUEL_WHERE_QUIET


def variants(run: Run) -> list[Policy]:
    """Paths that differ from this one in one test: the other way always, or from the second time on."""
    flipped = {key for key, _ in run.policy.flips}
    depth = len(flipped)
    if depth >= 3:
        return []
    made: list[Policy] = []
    # Where an error ended the program, its last test is the likeliest to go the other way.
    before = list(run.machine.oracle.decisions.values())[: run.stop.decided] if run.stop is not None else []
    last = next((d for d in reversed(before) if d.relevant), None)
    if last is not None and last.key not in flipped and not is_part(last.key, flipped):
        made.append(run.policy.turned(last))
    # What there is to compute on changes little of what is computed: that comes last.
    for decision in sorted(run.machine.oracle.decisions.values(), key=lambda d: d.of_device):
        is_option = decision.relevant and not decision.settings
        if is_option and decision.key not in flipped and not is_part(decision.key, flipped):
            made.append(run.policy.turned(decision))
    if depth == 0:
        for decision in run.machine.oracle.decisions.values():
            if decision.relevant and not decision.settings and run.machine.oracle.visits.get(decision.key, 0) > 1:
                made.append(run.policy.with_flip(decision.key, "later"))
                # What is done in every k-th pass, or with every k elements, is rarely done in the first.
                if decision.counts and not is_usual(decision.text):
                    made.append(run.policy.with_flip(decision.key, "after"))
    return made


def suspects(run: Run) -> list[Policy]:
    """Paths on which a setting is another one than by default, since an error ended an entry point behind its test."""
    decisions = run.machine.oracle.decisions
    return [run.policy.turned(decisions[key]) for key in dict.fromkeys(run.machine.suspected_settings)]


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
) -> Run:
    """One run: the module, then whatever nobody has called, nor the default path has `called`.

    A run that is `watched` serves `Paths` for others that differ from it in what nothing else notices.
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
        machine.on_pass = lambda current: observer(machine, current)  # type: ignore[method-assign]
    run = Run(policy, machine, fuel)
    if watched:
        run.apart = Apart(machine)
    try:
        machine.globals.names["__name__"] = "__main__"
        machine.globals.names["__file__"] = machine.fresh("str")
        try:
            machine.block(tree.body, machine.globals)
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
        run_entries(run, reach, calls)
        run.called = frozenset(f.qualname for f in functions_of(machine) if f.called) - frozenset(run.entries)
    except OutOfFuel:
        run.finished = False
    except RecursionError:
        run.finished = False
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


class Paths:
    """Runs of one program. With `apart`, what others cannot notice is run again by itself.

    What is called on the default path, and on another is not, nobody calls there: how often, what it is given, and
    whether gradients are on, is in view. `called` are those functions, where the default path has been run already.
    """

    def __init__(
        self,
        tree: ast.Module,
        project: Project | None,
        evidence: Evidence | None,
        *,
        called: frozenset[str] = frozenset(),
        apart: bool = True,
    ) -> None:
        self._tree = tree
        self._project = project
        self._evidence = evidence
        self._called = called
        self._apart = apart and evidence is None
        self._first: Run | None = None
        self._done: dict[tuple[frozenset[tuple[TestKey, str]], frozenset[str]], Run] = {}

    def run(self, policy: Policy, fuel: int) -> Run:
        """The path of a policy. Raises Spoilt where all runs so far have to be forgotten, but not without `apart`."""
        # Of two tests that go the other way, either may be the first to be turned: it is the same path.
        path = (frozenset(policy.flips), policy.opened)
        done = self._done.get(path)
        if done is not None and done.fuel == fuel:
            return done.seen_as(policy, done.machine, done.fuel)
        run = self._done[path] = self._run(policy, fuel)
        return run

    def _run(self, policy: Policy, fuel: int) -> Run:
        first = self._first
        if first is not None and first.apart is not None and first.finished:
            seen = first.apart.other(policy, fuel)
            if seen is not None:
                return first.seen_as(policy, seen, fuel)
        is_default = not policy.flips
        run = run_once(
            self._tree,
            policy,
            fuel,
            project=self._project,
            evidence=self._evidence,
            watched=is_default and self._apart,
            called=self._called,
        )
        if is_default:
            self._called = run.called
            self._first = run if self._apart else None
        return run


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


def run_entries(run: Run, reach: Reach, calls: Calls) -> None:
    """Functions and methods that nobody in view calls are called by somebody else."""
    keep(run.machine, [cls for cls in run.machine.classes if find_instance(run.machine, cls) is None])
    if number_of_entries(run.machine, reach) < MIN_ENTRIES:
        run.apart = None
    for entry in entries(run.machine, reach, calls):
        watched(run, entry)


def watched(run: Run, entry: Entry) -> None:
    """Run an entry, and have others know what it does, as long as there may be others."""
    run.machine.begin_entry()
    if run.apart is not None and not run.machine.differentiations and run.cost > FUEL_WHERE_QUIET:
        run.apart = None
    run.entries += entry() if run.apart is None else run.apart.run(entry)


__all__ = ["Analysis", "Decision", "Run", "TestKey", "analyse", "run_again", "run_once"]
