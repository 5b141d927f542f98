"""The search for repairs: what the rules propose is tried, and proven by running the edited program."""

from __future__ import annotations

import ast
import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from autodetach.decoding import SourceError
from autodetach.machine.children import targets_of
from autodetach.projects.project import Files
from autodetach.proving.blank_lines import without_surplus
from autodetach.proving.further import is_behind_end, is_hidden
from autodetach.proving.left_out import LEFT_OUT, is_left_out
from autodetach.proving.proven import Edits, Proven
from autodetach.proving.trial import Trial
from autodetach.proving.turned_on import KEPT, TurnedOn
from autodetach.proving.undefined import undefined_names
from autodetach.source import Edit
from autodetach.suspect import EARLIER, Candidate
from autodetach.view.program import Program

if TYPE_CHECKING:
    from autodetach.codemods.tree import Tree
    from autodetach.machine.project import Module
    from autodetach.machine.run import Analysis
    from autodetach.proving.proof import Verdict
    from autodetach.suspect import Suspect

BROKEN_OFF = "what was run of the program ends early, by an error: what is read behind that is not known"
NO_TENSOR = "it asks what is not in view for a method of tensors"
NAMING = (ast.Name, ast.Attribute, ast.Subscript)
MAX_CANDIDATES = 10
FUEL_FOR_REPAIRS = 120_000
"""What trying repairs of one file may cost, in units of `machine.running`: as much as finding its faults, and a bit."""
FUEL_FOR_COMPARING = 10
"""What it costs to look, in an edited program, for one of the faults that are known."""
FUEL_FOR_SETTINGS = 10_000
"""What may be spent besides on other settings of the program; behind that, repairs are as the program is written."""
MOST_ASKED_OTHERWISE = 4
"""So many repairs that other settings concern are proven one by one; more are proven together, as they are written."""
MAX_UNCOLLECTED = 1_000_000
"""Objects that may be made before those that died are looked for: some hundred megabytes."""


class Repairs:
    """The repairs of one program. `cost` is what trying has taken, in the units of `machine.running`.

    `suspects` finds the faults of a program, and `known` are those of the one that is repaired, by their identity.
    `pause` is called between two trials, and may raise what ends the search. `given_up`: the budget was used up.
    Without `alternatives`, what cannot be safe is not tried any more once something has passed.
    """

    def __init__(
        self,
        files: Files,
        analysis: Analysis,
        suspects: Callable[[Analysis], Iterable[Suspect]],
        known: frozenset[tuple[object, ...]],
        pause: Callable[[], None],
        *,
        alternatives: bool,
    ) -> None:
        self.cost = 0
        self.given_up = False
        self._files = files
        self._root = files.root.path
        self._analysis = analysis
        self._suspects = suspects
        self._known = known
        self._pause = pause
        self._alternatives = alternatives
        self._fuel = FUEL_FOR_REPAIRS
        self._run_again = len(analysis.replays)
        self._asked_otherwise = 0
        self._trees: dict[str, Tree] = {}
        self._undefined: dict[str, frozenset[str]] = {}
        self._shown_by: list[set[tuple[object, ...]]] = []
        self._proven_together: dict[Suspect, Proven] = {}
        self._turned_on = TurnedOn(files, analysis, self._edits)

    def dissolve(self) -> None:
        """Clear away what was run: nothing may be asked any more."""
        self._turned_on.dissolve()
        del self._turned_on  # which has a method of this

    def prove_together(self, suspects: Iterable[Suspect]) -> None:
        """Try at once the first repairs that change nothing of what is differentiated.

        A program that keeps one loss with its graph mostly keeps several, and an old one has dozens of places that are
        spelled anew; those of a rule go together, and all that free what is kept too long (AD1xx).

        Where all of them together are not safe, each is tried by itself when it is asked for.
        """
        alike: dict[str, list[Suspect]] = {}
        for suspect in suspects if self._analysis.complete else ():
            if suspect.is_spelling or (suspect.certain and suspect.code.startswith(KEPT)):
                alike.setdefault(suspect.code if suspect.is_spelling else KEPT, []).append(suspect)
        for every in alike.values():
            chosen = self._first_of_all(every) if len(every) > 1 and self._may_go_on() else {}
            if len(chosen) > 1:
                self._pause()
                self._prove_all(chosen)

    def _first_of_all(self, suspects: list[Suspect]) -> dict[Suspect, Candidate]:
        """The first repairs of those that may be proven at once."""
        resting = _resting_on_others([suspect.node for suspect in suspects])
        found: dict[Suspect, Candidate] = {}
        for suspect in suspects:
            first = next(suspect.candidates(), None) if suspect.node not in resting else None
            if first is None:
                continue
            is_alone = is_left_out(self._analysis, suspect.node) or self._is_asked_otherwise(suspect, first)
            if suspect.is_spelling or (first.changes_nothing and not is_alone):
                found[suspect] = first
        return found

    def _prove_all(self, chosen: dict[Suspect, Candidate]) -> None:
        ones = chosen.values()
        codemods = tuple(codemod for one in ones for codemod in one.codemods)
        preferred = {one.prefers for one in ones}  # of a number, more is asked
        every = Candidate("", codemods, prefers="item" if "item" in preferred else max(preferred))
        home = self._home(next(iter(chosen)))
        with self._edited(every) as edited:
            if isinstance(edited, str):
                return
            edits, trial = edited
            verdict = trial.verdict(home, every)
            if not verdict.kept or not (verdict.equal or all(suspect.is_spelling for suspect in chosen)):
                return
            whole = trial.whole()
            program = Program(whole)
            faults = self._identities(whole)
            if faults - self._known or any(s.identity in faults or _lasts(s, program) for s in chosen):
                return
            numbers = range(len(self._analysis.runs)) if every.prefers else ()
            if any(trial.asks_more(n) or trial.breaks_off(n) for n in numbers) or self._loses_names(edits):
                return
        for suspect, one in chosen.items():
            proven = self._as_proven(suspect, one, self._edits(one), verdict)
            self._proven_together[suspect] = replace(proven, together=True)

    def of(self, views: Sequence[Suspect]) -> Iterator[tuple[Suspect, Proven]]:
        """The repairs that pass, each with the view of the fault by which it was found, in the order of the views."""
        is_told = False
        for suspect in views:
            for fix in self._of_view(suspect, is_told=is_told):
                is_told = True
                yield suspect, fix

    def _of_view(self, suspect: Suspect, *, is_told: bool) -> Iterator[Proven]:
        """The repairs of one view that pass; `is_told`: there are others already.

        A number that may be asked for a method of tensors comes behind the tensor without its graph, which has them.
        """
        if not self._analysis.complete:
            return  # where the program itself is cut short, no edited one can be shown to be as good
        if suspect not in self._proven_together and not self._may_go_on():
            self.given_up = True
            return
        numbers: list[Proven] = []
        found = is_told
        for count, candidate in enumerate(suspect.candidates()):
            if count >= MAX_CANDIDATES:
                break
            can_be_safe = suspect.certain and candidate.doubt is None
            if (found and candidate.last_resort) or (is_told and not can_be_safe and not self._alternatives):
                continue
            together = self._proven_together.get(suspect) if count == 0 else None
            if together is None and not self._may_go_on():
                self.given_up = True
                break
            self._pause()
            fix = together or self._proven(suspect, candidate)
            if gc.get_count()[0] > MAX_UNCOLLECTED:
                gc.collect(1)
            if isinstance(fix, Proven):
                found = True
                fix = replace(fix, observed=suspect.observed)
                if fix.why_unsafe == NO_TENSOR and candidate.prefers == "item":
                    numbers.append(fix)
                    continue
                if candidate.prefers != "detach":
                    yield from numbers
                    numbers.clear()
                is_told = True
                yield fix
                if suspect.crosses and fix.why_unsafe == EARLIER and not self._alternatives:
                    break  # what does not cut that off leaves the fault
        yield from numbers

    def _proven(self, suspect: Suspect, candidate: Candidate) -> Proven | str:
        """The candidate as a fix, or why it is none: the edited program is run and compared."""
        with self._edited(candidate) as edited:
            return edited if isinstance(edited, str) else self._tried(suspect, candidate, *edited)

    @contextlib.contextmanager
    def _edited(self, candidate: Candidate) -> Iterator[tuple[Edits, Trial] | str]:
        """The edits of a candidate and the program that they make, as long as it is looked at; or why there is none."""
        from autodetach.codemods.tree import Refused

        try:
            edits = self._edits(candidate)
            sources = {at: self._files.sources[at].with_edits(new) for at, new in edits.items()}
            edited = self._files.edited(sources)
        except (Refused, SourceError, ValueError, SyntaxError, RecursionError, MemoryError) as error:
            yield str(error)
            return
        if not edits:
            yield "nothing to edit"
            return
        trial = Trial(self._analysis, edited)
        try:
            yield edits, trial
        finally:
            self._pay(trial.cost)
            self._fuel -= FUEL_FOR_COMPARING * len(self._known)
            trial.dissolve()

    def _may_go_on(self) -> bool:
        """Whether anything is left to spend, with what was run again for the rules to see how to repair."""
        for run in self._analysis.replays[self._run_again :]:
            self._pay(run.cost)
            self._run_again += 1
        return self._fuel > 0

    def _pay(self, cost: int) -> None:
        self._fuel -= cost
        self.cost += cost

    def _tried(self, suspect: Suspect, candidate: Candidate, edits: Edits, trial: Trial) -> Proven | str:
        home = self._home(suspect)
        faults = self._identities(trial.one(home))
        if suspect.identity in faults:
            return "the fault is still there"
        verdict = trial.verdict(home, candidate)
        if not verdict.kept:
            return verdict.reason
        if candidate.keeps and not verdict.equal:
            return f"it may take no gradient away: {EARLIER}"
        if len(self._analysis.runs) > 1:
            faults = self._identities(trial.whole())
        if suspect.identity in faults or _lasts(suspect, Program(trial.one(home))):
            return "the fault is still there"
        new = faults - self._known
        if new and not self._were_hidden(new, suspect, trial):
            return f"another fault comes: {new}"
        if suspect.untrains is not None and suspect.untrains(self._analysis.runs[home], trial.run(home)):
            return "what the updates begin with, or depend on, gets no gradient where it is trained behind them"
        lost = self._loses_names(edits)
        if lost:
            return lost
        proven = self._as_proven(suspect, candidate, edits, verdict)
        if proven.why_unsafe is None and any(trial.asks_more(n) for n in range(len(self._analysis.runs))):
            return replace(proven, why_unsafe=NO_TENSOR)
        if proven.why_unsafe is None and candidate.prefers and trial.breaks_off(home):
            return replace(proven, why_unsafe=BROKEN_OFF)
        if proven.why_unsafe is None and not suspect.is_spelling and is_left_out(self._analysis, suspect.node):
            return replace(proven, why_unsafe=LEFT_OUT)
        if proven.why_unsafe is None:
            return replace(proven, why_unsafe=self._doubt_of_settings(suspect, candidate, home))
        return proven

    def _is_asked_otherwise(self, suspect: Suspect, candidate: Candidate) -> bool:
        if self._asked_otherwise >= MOST_ASKED_OTHERWISE or not self._turned_on.concerns(suspect, candidate):
            return False
        self._asked_otherwise += 1
        return True

    def _doubt_of_settings(self, suspect: Suspect, candidate: Candidate, home: int) -> str | None:
        spent = self._turned_on.cost
        if spent > FUEL_FOR_SETTINGS:
            return None
        doubt = self._turned_on.doubt(suspect, candidate, home)
        self.cost += self._turned_on.cost - spent
        return doubt

    def _were_hidden(self, new: set[tuple[object, ...]], suspect: Suspect, trial: Trial) -> bool:
        """Whether faults only come to light: of the same kind, they stand where the program ends before.

        Of any kind, where it is this fault that ends it.
        """
        return all(
            (other.code == suspect.code and is_hidden(other.node, before, trial.run(number)))
            or (suspect.ends and is_behind_end(other.node, before, trial.one(number).tree))
            for number, before in enumerate(self._analysis.runs)
            for other in self._suspects(trial.one(number))
            if other.identity in new
        )

    def _loses_names(self, edits: Edits) -> str:
        """Why an edited file cannot be, if it cannot: nothing binds a name any more."""
        try:
            lost = self._lost_names(edits)
        except (SyntaxError, RecursionError, MemoryError) as error:
            return str(error)  # what Python parses and does not compile, as `nonlocal` at the top level
        return f"nothing binds {lost} any more" if lost else ""

    def _lost_names(self, edits: Edits) -> list[str]:
        """The names that are read in an edited file, and bound only in the one that it was."""
        found: set[str] = set()
        for at, new in edits.items():
            if at not in self._undefined:
                self._undefined[at] = undefined_names(self._files.sources[at].text)
            found |= undefined_names(self._files.sources[at].with_edits(new).text) - self._undefined[at]
        return sorted(found)

    def _as_proven(self, suspect: Suspect, candidate: Candidate, edits: Edits, verdict: Verdict) -> Proven:
        why = candidate.doubt
        if why is None and not suspect.certain:
            why = "it rests on an assumption"
        if why is None and not verdict.equal:
            why = verdict.reason or EARLIER
        by_file = tuple(("" if at == self._root else at, new) for at, new in edits.items())
        return Proven(candidate.message, by_file, why)

    def _edits(self, candidate: Candidate) -> Edits:
        """The edits of a candidate by file. Raises Refused."""
        from autodetach.codemods import target_of

        found: dict[str, list[Edit]] = {}
        for codemod in candidate.codemods:
            module = self._files.module_at(getattr(target_of(codemod), "lineno", 0))
            found.setdefault(module.path, []).extend(codemod.edits(self._tree(module)))
        return {at: self._tidy(at, _in_order(edits)) for at, edits in found.items() if edits}

    def _tidy(self, path: str, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        source = self._files.sources[path]
        return edits if source.is_joined else without_surplus(source.raw, edits)

    def _home(self, suspect: Suspect) -> int:
        """The first path that shows the fault by itself: a repair that fails does so there."""
        for number, run in enumerate(self._analysis.runs):
            if number == len(self._shown_by):
                alone = self._analysis.alone(run)
                self._shown_by.append(self._identities(alone) if run in self._analysis.distinct else set())
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


def _resting_on_others(nodes: Iterable[ast.AST]) -> set[ast.AST]:
    """The assignments that read what others of them bind: once those are repaired, they may need no repair."""
    found = [node for node in nodes if isinstance(node, (ast.Assign, ast.AugAssign))]
    bound = [(node, ast.unparse(target)) for node in found for target in targets_of(node)]
    read = {node: {ast.unparse(n) for n in ast.walk(node.value) if isinstance(n, NAMING)} for node in found}
    return {node for node in found if any(name in read[node] and other is not node for other, name in bound)}


def _lasts(suspect: Suspect, edited: Program) -> bool:
    return suspect.lasts is not None and suspect.lasts(edited)


def _in_order(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits in the order of their places; of equal ones, one."""
    return tuple(sorted(dict.fromkeys(edits), key=lambda e: (e.start, e.end)))
