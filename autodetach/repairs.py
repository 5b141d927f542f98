"""The search for repairs: what the rules propose is tried, and proven by running the edited program."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autodetach.finding import Applicability, Fix
from autodetach.project import Files
from autodetach.source import Edit, SourceError
from autodetach.trial import Trial

if TYPE_CHECKING:
    from autodetach.codemods.tree import Tree
    from autodetach.machine.project import Module
    from autodetach.machine.run import Analysis
    from autodetach.rules.suspect import Candidate, Suspect

MAX_CANDIDATES = 10
FUEL_FOR_REPAIRS = 120_000
"""What trying repairs of one file may cost, in the units of `machine.run`: as much as finding its faults, and a bit."""
MAX_UNCOLLECTED = 1_000_000
"""Objects that may be made before those that died are looked for: some hundred megabytes."""


@dataclass(frozen=True, slots=True)
class Proven:
    """A repair that has passed; `why_unsafe` is None where it is safe."""

    message: str
    edits: tuple[tuple[str, tuple[Edit, ...]], ...]
    why_unsafe: str | None
    observed: tuple[str, ...] = ()

    def fix_at(self, path: str) -> Fix:
        """As the fix of a finding in the file `path`."""
        own = next((new for at, new in self.edits if at == path), ())
        rest = tuple((at, new) for at, new in self.edits if at != path)
        kind = Applicability.SAFE if self.why_unsafe is None else Applicability.UNSAFE
        return Fix(self.message, kind, own, self.why_unsafe, rest, self.observed)


class Repairs:
    """The repairs of one program. `cost` is what trying has taken, in the units of `machine.run`.

    `suspects` finds the faults of a program, and `known` are those of the one that is repaired, by their identity.
    `pause` is called between two trials, and may raise what ends the search. `given_up`: the budget was used up.
    """

    def __init__(
        self,
        files: Files,
        analysis: Analysis,
        suspects: Callable[[Analysis], Iterable[Suspect]],
        known: frozenset[tuple[object, ...]],
        pause: Callable[[], None],
    ) -> None:
        self.cost = 0
        self.given_up = False
        self._files = files
        self._root = files.root.path
        self._analysis = analysis
        self._suspects = suspects
        self._known = known
        self._pause = pause
        # Where the program itself is cut short, no edited one can be shown to be as good.
        self._fuel = FUEL_FOR_REPAIRS if analysis.complete else 0
        self._trees: dict[str, Tree] = {}
        self._shown_by: list[set[tuple[object, ...]]] = []

    def of(self, views: Sequence[Suspect]) -> Iterator[tuple[Suspect, Proven]]:
        """The repairs that pass, each with the view of the fault by which it was found, in the order of the views."""
        found = False
        for suspect in views:
            for count, candidate in enumerate(suspect.candidates()):
                if count >= MAX_CANDIDATES:
                    break
                if self._fuel <= 0:
                    self.given_up = self._analysis.complete
                    break
                if candidate.last_resort and found:
                    continue
                self._pause()
                fix = self._proven(suspect, candidate)
                if gc.get_count()[0] > MAX_UNCOLLECTED:
                    gc.collect(1)
                if isinstance(fix, Proven):
                    found = True
                    fix = replace(fix, observed=suspect.observed)
                    yield suspect, fix

    def _proven(self, suspect: Suspect, candidate: Candidate) -> Proven | str:
        """The candidate as a fix, or why it is none: the edited program is run and compared."""
        from autodetach.codemods.tree import Refused

        try:
            edits = self._edits(candidate)
            sources = {at: self._files.sources[at].with_edits(new) for at, new in edits.items()}
            edited = self._files.edited(sources)
        except (Refused, SourceError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
            return str(error)
        if not edits:
            return "nothing to edit"
        trial = Trial(self._analysis, edited)
        try:
            return self._tried(suspect, candidate, edits, trial)
        finally:
            self._fuel -= trial.cost
            self.cost += trial.cost
            trial.dissolve()

    def _tried(
        self, suspect: Suspect, candidate: Candidate, edits: dict[str, tuple[Edit, ...]], trial: Trial
    ) -> Proven | str:
        home = self._home(suspect)
        faults = self._identities(trial.one(home))
        if suspect.identity in faults:
            return "the fault is still there"
        verdict = trial.verdict(home, cuts=candidate.cuts, numbers=candidate.prefers == "item")
        if not verdict.kept:
            return verdict.reason
        if len(self._analysis.runs) > 1:
            faults = self._identities(trial.whole())
        if suspect.identity in faults:
            return "the fault is still there"
        if faults - self._known:
            return f"another fault comes: {faults - self._known}"
        why = candidate.doubt
        if why is None and not suspect.certain:
            why = "it rests on an assumption"
        if why is None and not verdict.equal:
            why = "gradient of earlier passes is cut off"
        by_file = tuple(("" if at == self._root else at, new) for at, new in edits.items())
        return Proven(candidate.message, by_file, why)

    def _edits(self, candidate: Candidate) -> dict[str, tuple[Edit, ...]]:
        """The edits of a candidate by file. Raises Refused."""
        from autodetach.codemods import target_of

        found: dict[str, list[Edit]] = {}
        for codemod in candidate.codemods:
            module = self._files.module_at(getattr(target_of(codemod), "lineno", 0))
            found.setdefault(module.path, []).extend(codemod.edits(self._tree(module)))
        return {at: _in_order(edits) for at, edits in found.items() if edits}

    def _home(self, suspect: Suspect) -> int:
        """The first path that shows the fault by itself: a repair that fails does so there."""
        for number, run in enumerate(self._analysis.runs):
            if number == len(self._shown_by):
                is_new = run in self._analysis.distinct
                self._shown_by.append(self._identities(replace(self._analysis, runs=[run])) if is_new else set())
            if suspect.identity in self._shown_by[number]:
                return number
        return 0

    def _identities(self, analysis: Analysis) -> set[tuple[object, ...]]:
        return {s.identity for s in self._suspects(analysis)}

    def _tree(self, module: Module) -> Tree:
        from autodetach.codemods.tree import Tree

        if module.path not in self._trees:
            self._trees[module.path] = Tree(self._files.sources[module.path], module.tree, module.first)
        return self._trees[module.path]


def _in_order(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits in the order of their places; of equal ones, one."""
    return tuple(sorted(dict.fromkeys(edits), key=lambda e: (e.start, e.end)))
