"""Repairs tried once more where a setting of the program turns on what no path has taken.

`ACC = False` and `if ACC: total.backward()`: as it is written, nothing differentiates the sum. Who has written the
branch means to turn it on some day, and then the repair is not to take its gradient away.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from autodetach.decoding import SourceError
from autodetach.kept import forget
from autodetach.machine.paths import Paths
from autodetach.machine.run import Analysis, dissolve
from autodetach.projects.project import Edited, Files
from autodetach.proving.branches_off import (
    Branch,
    Words,
    branches_off,
    choices_off,
    chosen_by_key,
    may_train,
    names_of_training,
)
from autodetach.proving.other_classes import Other, others_that_train
from autodetach.proving.trial import Trial
from autodetach.proving.turned_tests import Change, changes_for
from autodetach.source import Edit
from autodetach.suspect import Candidate, Suspect
from autodetach.view.program import Program, parents_in

if TYPE_CHECKING:
    from autodetach.codemods import Codemod
    from autodetach.proving.written_settings import Written

TURNED_ON = "it is trained where a setting is another one than is written in the program: see {}"
KEPT = "AD1"
"""How the codes begin of what is kept too long."""
OTHER_CLASS = "{}, which nothing makes here, may train what is kept"
MAX_TURNED = 3
"""Settings that are turned for one repair."""

Edits = Mapping[str, tuple[Edit, ...]]
Changes = tuple[Change, ...]


class TurnedOn:
    """The program with other settings. `cost` is what running it has taken, and `edits` makes those of a candidate."""

    def __init__(self, files: Files, analysis: Analysis, edits: Callable[[Candidate], Edits]) -> None:
        self.cost = 0
        self._files = files
        self._analysis = analysis
        self._edits = edits
        self._written: Written | None = None
        self._program: Program | None = None
        self._branches: list[Branch] | None = None
        self._words: Words | None = None
        self._training: set[str] = set()
        self._found: dict[tuple[ast.AST, ...], list[tuple[Branch, Changes]]] = {}
        self._others_that_train: dict[tuple[ast.AST, ...], list[Other]] = {}
        self._others: dict[tuple[Changes, int], Analysis | None] = {}

    def concerns(self, suspect: Suspect, candidate: Candidate) -> bool:
        """Whether any setting, or another class, may train what the repair takes the graph from."""
        return bool(self._switches(suspect, candidate) or self._other_classes(suspect, candidate))

    def doubt(self, suspect: Suspect, candidate: Candidate, home: int) -> str | None:
        """Why a repair that is safe as the program is written may not be so otherwise; path `home` shows the fault."""
        for branch, changes in self._switches(suspect, candidate)[:MAX_TURNED]:
            if self._is_other_with(changes, candidate, home):
                return TURNED_ON.format(self._files.line_name(branch.tests[-1][0].lineno))
        for other in self._other_classes(suspect, candidate)[:MAX_TURNED]:
            changes = tuple(Change(name, other.made.name) for name in other.names)
            before = self._with(changes, home) if changes else None
            is_shown = before is not None and not any(run.stopped_by or not run.finished for run in before.runs)
            if not is_shown or self._is_other_with(changes, candidate, home):
                return OTHER_CLASS.format(f"`{other.made.name}`")
        return None

    def _other_classes(self, suspect: Suspect, candidate: Candidate) -> list[Other]:
        if not suspect.code.startswith(KEPT):
            return []
        key = self._places(suspect, candidate)
        if key not in self._others_that_train:
            found = others_that_train(self._analysis.trees, self._statements(key))
            self._others_that_train[key] = list(found)
        return self._others_that_train[key]

    def _places(self, suspect: Suspect, candidate: Candidate) -> tuple[ast.AST, ...]:
        from autodetach.codemods import target_of

        return (suspect.node, *filter(None, map(target_of, candidate.codemods)))

    def _statements(self, places: tuple[ast.AST, ...]) -> set[ast.stmt]:
        program = self._program = self._program or Program(self._analysis)
        return {s for place in places if (s := program.statement(place)) is not None}

    def _switches(self, suspect: Suspect, candidate: Candidate) -> list[tuple[Branch, Changes]]:
        if suspect.is_spelling:
            return []
        if self._branches is None:
            executed = {node for run in self._analysis.distinct for node in run.machine.executed}
            trees = self._analysis.trees
            self._branches = [*branches_off(trees, executed), *choices_off(trees, executed)]
            self._branches += chosen_by_key(trees)
            self._training = names_of_training(trees) if self._branches else set()
        if not self._branches:
            return []
        key = self._places(suspect, candidate)
        if key not in self._found:
            self._found[key] = list(self._looked_for(key, read=not suspect.code.startswith(KEPT)))
        return self._found[key]

    def _looked_for(self, places: tuple[ast.AST, ...], *, read: bool) -> Iterator[tuple[Branch, Changes]]:
        from autodetach.proving.written_settings import Written

        self._words = self._words or Words(self._analysis.trees)
        words = self._words.of(self._statements(places), read=read)
        told: set[Changes] = set()
        for branch in self._branches or ():
            if not may_train(branch, words, self._training):
                continue
            self._written = self._written or Written(self._analysis.trees)
            changes = _changes(self._written, branch)
            if changes and changes not in told:
                told.add(changes)
                yield branch, changes

    def _is_other_with(self, changes: Changes, candidate: Candidate, home: int) -> bool:
        """Whether the repaired program trains otherwise, or raises, where the settings are written so."""
        before = self._with(changes, home)
        if before is None:
            return False
        if not before.complete:
            return True
        both = replace(candidate, codemods=(*candidate.codemods, *_codemods(changes)))
        project = self._edited(both)
        if project is None:
            return True
        trial = Trial(before, project)
        try:
            verdict = trial.verdict(len(before.runs) - 1, both)
            return not (verdict.kept and verdict.equal)
        finally:
            self.cost += trial.cost
            trial.dissolve()

    def _with(self, changes: Changes, home: int) -> Analysis | None:
        """The default path of the program with other settings, and one that shows the fault."""
        key = (changes, home)
        if key not in self._others:
            project = self._edited(Candidate("", _codemods(changes)))
            found = None if project is None else self._run(project, home)
            self.cost += sum(run.cost for run in found.runs) if found is not None else 0
            self._others[key] = found
        return self._others[key]

    def _run(self, project: Edited, home: int) -> Analysis:
        evidence = self._analysis.evidence
        paths = Paths(project.root.tree, project, evidence, apart=False)
        shown = [self._analysis.runs[number] for number in dict.fromkeys((0, home))]
        runs = [paths.run(run.policy, run.fuel) for run in shown]
        analysis = Analysis(project.root.tree, runs, project=project, evidence=evidence)
        analysis.complete, analysis.ended = runs[0].finished, True
        return analysis

    def _edited(self, candidate: Candidate) -> Edited | None:
        from autodetach.codemods.tree import Refused

        try:
            edits = self._edits(candidate)
            return self._files.edited({at: self._files.sources[at].with_edits(new) for at, new in edits.items()})
        except (Refused, SourceError, ValueError, SyntaxError, RecursionError, MemoryError):
            return None

    def dissolve(self) -> None:
        """Clear away what was run: nothing may be asked any more."""
        kept = {statement for tree in self._analysis.trees for statement in tree.body}
        for analysis in self._others.values():
            if analysis is None:
                continue
            for statement in (statement for tree in analysis.trees for statement in tree.body):
                if statement not in kept:
                    forget(statement, parents_in)
            dissolve(analysis)
        self._others.clear()


def _changes(written: Written, branch: Branch) -> Changes:
    """What has all tests go their ways; what an inner one asks for counts."""
    found = {change.constant: change for test, truth in branch.tests for change in changes_for(written, test, truth)}
    return tuple(found.values())


def _codemods(changes: Changes) -> tuple[Codemod, ...]:
    from autodetach.codemods.replace_expression import ReplaceExpression

    return tuple(ReplaceExpression(change.constant, change.text) for change in changes)
