"""Explores a program: which of its paths are run, in which order, and when it is enough."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container
from typing import TYPE_CHECKING

from autodetach.machine.apart import Spoilt
from autodetach.machine.beginnings import Leads
from autodetach.machine.oracle import Policy, TestKey, is_part, is_usual
from autodetach.machine.passed_by import passed_by
from autodetach.machine.paths import Paths
from autodetach.machine.project import Project
from autodetach.machine.run import Analysis, Run, dissolve
from autodetach.machine.running import FUEL_PER_RUN
from autodetach.machine.state import FUEL_FOR_IMPORTS
from autodetach.machine.surroundings import around
from autodetach.machine.waiting import Kept, Waiting
from autodetach.machine.walking import differentiates

if TYPE_CHECKING:
    from autodetach.machine.evidence import Evidence

FUEL_PER_FILE = 60_000
FUEL_WHERE_TRAINING = 8_000
FUEL_WHERE_QUIET = 2_000
"""What paths beyond the first may cost before anything is suspected, with a differentiation on some path or without.

Of 2,800 programs, 420 of them with findings, 12 showed one of these only beyond the first path: 10 of them for less
than 8,000. Of 5,000 files of popular repositories, none showed more for 6,000 where it is quiet than for 2,000.
"""
FUEL_FOR_IMPORTS_PER_FILE = 72_000
"""What the bodies of imported files may cost on all paths together: no more paths are looked at beyond that."""
MAX_PATHS = 24


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
        return _explored(tree, project, None, whole, between, suspected)
    analysis = _explored(tree, project, evidence.normalised(), whole)
    # What an argument brings from an earlier pass is nothing that the callee keeps, and a repair may not bring it.
    explained = {call for run in analysis.runs for call in run.machine.explained}
    if explained and analysis.evidence is not None:
        return _explored(tree, project, analysis.evidence.without_carry(explained), whole)
    return analysis


def _explored(
    tree: ast.Module,
    project: Project | None,
    evidence: Evidence | None,
    whole: bool,
    between: Callable[[Analysis], None] | None = None,
    suspected: Callable[[Analysis], bool] | None = None,
) -> Analysis:
    analysis = Analysis(tree, [], project=project, evidence=evidence)
    try:
        _Exploration(analysis, whole, between, suspected, apart=True).explore()
    except Spoilt:
        dissolve(analysis)
        analysis = Analysis(tree, [], project=project, evidence=evidence)
        _Exploration(analysis, whole, between, suspected, apart=False).explore()
    return analysis


class _Exploration:
    """What is left to spend on an analysis, and the paths that wait: see `analyse`."""

    def __init__(
        self,
        analysis: Analysis,
        whole: bool,
        between: Callable[[Analysis], None] | None,
        suspected: Callable[[Analysis], bool] | None,
        *,
        apart: bool,
    ) -> None:
        self._analysis = analysis
        self._whole = whole
        self._between = between
        self._suspected = suspected
        self._paths = Paths(analysis.tree, analysis.project, analysis.evidence, apart=apart)
        # What all paths but the last one may cost, and what they may where a graph that is kept is open.
        self._fuel = self._left = FUEL_PER_FILE
        self._for_imports = FUEL_FOR_IMPORTS_PER_FILE
        self._on_others = 0
        self._waiting, self._kept = Waiting(MAX_PATHS), Kept()
        # Where the default path is quiet: what leads to a history, and the paths that do not.
        self._leads: Leads | None = None
        self._put_off: list[Policy] = []
        # The tests in front of differentiations that the default path passes by.
        self._leading: set[TestKey] = set()

    def explore(self) -> None:
        """Run one path after the other. Raises Spoilt where all of it is to be done again, without `apart`."""
        analysis = self._analysis
        while self._waiting:
            if self._between is not None and len(analysis.runs) > 1:
                self._between(analysis)
            run = self._next()
            is_first = len(analysis.runs) == 1
            if is_first and not run.finished:
                analysis.complete = False  # the program itself was cut short, not only a variation of it
                if self._whole and analysis.project is not None and len(analysis.project.modules) > 1:
                    break
            urgent = suspects(run) if is_first else []
            found = variants(run)
            is_quiet = is_first and analysis.evidence is None and run.is_quiet
            if is_first:
                if self._between is not None and (urgent or found):
                    self._between(analysis)  # others may show this while it is decided what to run beside it
                found = self._in_order(run, found, is_quiet=is_quiet)
            if not urgent and self._may_end(found):
                analysis.narrowed, analysis.ended = self._leads is not None or is_quiet, True
                return
            self._look_for_beginnings(run, is_quiet=is_quiet)
            self._waiting.add(urgent)
            self._waiting.add(self._leading_on(found))
            if self._is_used_up():
                break
        analysis.narrowed, analysis.ended = self._leads is not None, True

    def _next(self) -> Run:
        """Run the path that is next, and count what it takes."""
        analysis = self._analysis
        run = self._paths.run(self._waiting.next(), min(FUEL_PER_RUN, self._fuel or self._left))
        taken = FUEL_PER_RUN - max(run.machine.fuel, 0)
        self._fuel -= taken if self._fuel >= FUEL_PER_RUN else self._fuel
        self._left -= run.fuel - max(run.machine.fuel, 0)
        self._for_imports -= FUEL_FOR_IMPORTS - run.machine.import_fuel
        self._on_others += run.cost if analysis.runs else 0
        self._kept.note(run.machine.differentiations, run.machine.oracle)
        analysis.runs.append(run)
        return run

    def _in_order(self, run: Run, found: list[Policy], *, is_quiet: bool) -> list[Policy]:
        """The paths that differ from the default one in one test, those that matter most in front."""
        for_imports = self._for_imports // max(FUEL_FOR_IMPORTS - run.machine.import_fuel, 1)
        most = min(_most_paths(run, self._fuel), for_imports)
        at_first = most if self._suspected is None else min(most, _most_where_quiet(run))
        if not is_quiet and len(found) > at_first:
            past = passed_by(self._analysis.trees, run.machine.executed, run.called, run.machine.oracle)
            self._leading = {d.key for d in run.machine.oracle.decisions.values() if past.lie_behind(d)}
        return _in_order(found, run, self._leading, all_of_them=len(found) <= most)

    def _may_end(self, found: list[Policy]) -> bool:
        """Whether the paths so far show no fault, and have cost what they may where that is so."""
        further = self._waiting.first or (found[0] if found else None)
        if self._suspected is None or further is None or not _is_enough(self._analysis, self._on_others):
            return False
        if self._suspected(self._analysis):
            self._suspected = None
            return False
        return not _leads_on(self._analysis, further, self._leading, self._on_others)

    def _look_for_beginnings(self, run: Run, *, is_quiet: bool) -> None:
        """From a quiet default path until any path shows a history, only those are run that may lead to one."""
        if is_quiet:
            self._leads = Leads(self._analysis.tree, self._analysis.project, run.machine.executed)
        elif self._leads is not None and run.shows_history:
            self._leads = None
            self._waiting.add(self._put_off)

    def _leading_on(self, found: list[Policy]) -> list[Policy]:
        """Those of some paths that are run now."""
        leads = self._leads
        if leads is None:
            return found
        self._put_off += (policy for policy in found if not leads.further(policy.flips[-1][0]))
        return [policy for policy in found if leads.further(policy.flips[-1][0])]

    def _is_used_up(self) -> bool:
        """Whether no more may be spent. What is open about a graph that is kept is worth all of the budget."""
        tests = self._kept.open()
        is_open = self._waiting.prefer(tests | self._leading if tests else tests)
        may_go_on = is_open and self._left >= self._analysis.runs[0].cost
        return self._for_imports <= 0 or (self._fuel <= 0 and not may_go_on)


def _most_paths(run: Run, fuel: int) -> int:
    """How many paths may be run beside the first one, each of which costs about as much."""
    return min(MAX_PATHS, fuel // max(run.cost, 1))


def _most_where_quiet(run: Run) -> int:
    """As many, where nothing is suspected."""
    return (FUEL_WHERE_TRAINING if run.machine.differentiations else FUEL_WHERE_QUIET) // max(run.cost, 1)


def _in_order(found: list[Policy], run: Run, leading: Container[TestKey], *, all_of_them: bool) -> list[Policy]:
    """First that of a program that is given no flags, then those that lead to what the first one passes by.

    That are differentiations. Where not all can be run, then those that are decided where that one differentiates.
    """
    near, decisions = around(() if all_of_them else run.machine.differentiations), run.machine.oracle.decisions
    bare = run.machine.oracle.without_flags()

    def rank(policy: Policy) -> tuple[bool, bool, bool]:
        key = policy.flips[-1][0]
        return policy != bare, key not in leading, not near.hold(decisions[key])

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
    bare = run.machine.oracle.without_flags() if depth == 0 else None
    made: list[Policy] = [bare] if bare is not None else []
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
        trained = _tests_of_training(run)
        for decision in run.machine.oracle.decisions.values():
            if decision.relevant and not decision.settings and run.machine.oracle.visits.get(decision.key, 0) > 1:
                made.append(run.policy.with_flip(decision.key, "later"))
                # What is done in every k-th pass, or with every k elements, is rarely done in the first, nor is what
                # trains once an answer from out of view says so: an environment, that an episode is over.
                waits = decision.counts or (decision.default and decision.key in trained)
                if waits and not is_usual(decision.text):
                    made.append(run.policy.with_flip(decision.key, "after"))
    return made


def _tests_of_training(run: Run) -> set[TestKey | None]:
    """The tests that were true, and behind which the program differentiates."""
    found = (node for node, is_so in run.machine.ways if is_so and isinstance(node, ast.If))
    return {run.machine.tests.known(node.test) for node in found if any(map(differentiates, node.body))}


def suspects(run: Run) -> list[Policy]:
    """Paths on which a setting is another one than by default, since an error ended an entry point behind its test."""
    decisions = run.machine.oracle.decisions
    return [run.policy.turned(decisions[key]) for key in dict.fromkeys(run.machine.suspected_settings)]
