"""From what a run has shown to the findings that explain it, and what their repairs change: the same rules as ever."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autodetach.checks import Change, Choice
from autodetach.disk.files import FoundFile, relative
from autodetach.doctor.diagnosis import Diagnosis, Kind
from autodetach.finding import Finding, Problem
from autodetach.gather import gather
from autodetach.machine.evidence import Evidence
from autodetach.perform import run_one
from autodetach.report import Located
from autodetach.settings.config import Configuration
from autodetach.settle import settle
from autodetach.source import Source
from autodetach.task import Outcome, Task
from autodetach.tracebacks.explain import answers_among, frames_of, read_log, task_for
from autodetach.tracebacks.failure import Reading
from autodetach.tracebacks.files import Places, Understood

FAMILIES = {
    Kind.FREED: ("AD2", "AD3", "AD4"),
    Kind.CHANGED: ("AD2", "AD3", "AD4"),
    Kind.SCALAR: ("AD4",),
    Kind.GROWTH: ("AD1", "AD3"),
    Kind.RETAINED: ("AD103",),
}
MAX_FILES = 12


@dataclass(frozen=True, slots=True)
class Observations:
    """What a run leaves behind: the file of its `__main__`, what was diagnosed, and the traceback of the error that
    ended it, empty if none did."""

    program: str
    diagnoses: tuple[Diagnosis, ...]
    traceback: str = ""
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Repair:
    """`answers` are the findings that the run has confirmed, `changes` what their repairs make of the files.

    `offers`: one of the answers has a repair that would be applied.
    """

    answers: tuple[Located, ...]
    changes: tuple[Change, ...]
    repaired: tuple[Finding, ...]
    problems: tuple[Problem, ...]
    offers: bool = False


def repair(seen: Observations, cwd: str, configuration: Configuration, *, unsafe: bool, apply: bool = True) -> Repair:
    """Ask the machine about the files of a run, and, to `apply` them, what the repairs change. Raises ConfigError.

    A program that raised did not train, so the repair of what raised may be an unsafe one; of the others only safe ones
    are taken, unless `unsafe`.
    """
    reading = read_log(seen.traceback.encode("utf-8", "backslashreplace")) if seen.traceback else None
    frames = frames_of(reading, Places(cwd, configuration)) if reading is not None else ()
    error = _Error(reading, frames)
    tasks = [task_for(FoundFile(path, relative(path, cwd)), cwd, configuration) for path in _files(seen, frames)]
    view = _view([task._replace(evidence=seen.evidence) for task in tasks], seen, error, configuration)
    if seen.evidence is not None and view.unanswered:
        # What the run has shown may speak against the assumption on which a finding rests.
        plain = _view(tasks, seen, error, configuration)
        view = plain if plain.unanswered < view.unanswered else view
    wanted = _Confirmed(frozenset(map(_key, view.raising)), unsafe)
    fixing: list[Task] = []
    if apply and any(outcome.findings for outcome in view.outcomes):
        folders = tuple(dict.fromkeys((cwd, *(os.path.dirname(task.file.path) for task in tasks))))
        fixing = [task._replace(unsafe=True, wanted=wanted, roots=folders) for task in view.tasks]
    settled = settle(fixing, [run_one(task) for task in fixing]) if fixing else None
    return Repair(
        tuple(view.answers),
        () if settled is None else settled.changes,
        () if settled is None else tuple(finding for outcome in settled.outcomes for finding in outcome.applied),
        tuple(dict.fromkeys(problem for outcome in view.outcomes for problem in outcome.problems)),
        any(one.finding.fix is not None and wanted.is_wanted(one.finding, _key(one)) for one in view.answers),
    )


@dataclass(frozen=True, slots=True)
class _Error:
    """The error that has ended the program, if one of autograd's did."""

    reading: Reading | None
    frames: tuple[Understood, ...]


@dataclass(frozen=True, slots=True)
class _View:
    """What the machine says of the files: which findings answer to what was seen, and which of them to what raised."""

    tasks: list[Task]
    outcomes: list[Outcome]
    answers: list[Located]
    raising: list[Located]
    unanswered: int


def _view(tasks: list[Task], seen: Observations, error: _Error, configuration: Configuration) -> _View:
    outcomes = [run_one(task) for task in tasks]
    located = gather(outcomes, configuration)
    told = answers_among(located, error.reading, error.frames) if error.reading is not None else []
    by_fault = [[one for one in located if _answers(diagnosis, one)] for diagnosis in seen.diagnoses]
    raising = {id(one) for fault, d in zip(by_fault, seen.diagnoses, strict=True) if d.kind.raises for one in fault}
    raising |= set(map(id, told))
    answers = raising | {id(one) for fault in by_fault for one in fault}
    return _View(
        tasks,
        outcomes,
        [one for one in located if id(one) in answers],
        [one for one in located if id(one) in raising],
        sum(not fault for fault in by_fault) + (error.reading is not None and not told),
    )


def _files(seen: Observations, frames: Iterable[Understood]) -> list[str]:
    """The files to look at, the program first."""
    lines = [path for diagnosis in seen.diagnoses for path, _ in sorted(diagnosis.lines)]
    lines += [frame.file.path for frame in frames if frame.file is not None]
    files = dict.fromkeys(os.path.realpath(path) for path in (seen.program, *lines) if os.path.isfile(path))
    return list(files)[:MAX_FILES]


def _answers(diagnosis: Diagnosis, located: Located) -> bool:
    """Whether a finding speaks of what was diagnosed: the same sort of fault, on one of its lines."""
    if not located.finding.code.startswith(FAMILIES[diagnosis.kind]):
        return False
    if diagnosis.kind.raises and diagnosis.site is not None:
        # Its other lines are those of a loop in which there may be other faults, too.
        return (os.path.realpath(diagnosis.site.path), diagnosis.site.line) in _lines(located)
    return not _lines(located).isdisjoint((os.path.realpath(path), line) for path, line in diagnosis.lines)


def _lines(located: Located) -> set[tuple[str, int]]:
    lines = {(located.path_of(step.path), step.line) for step in located.finding.story}
    lines.add((located.path, located.source.position(located.finding.span.start).line))
    return {(os.path.realpath(path), line) for path, line in lines}


def _key(located: Located) -> tuple[str, int]:
    return located.path, located.source.position(located.finding.span.start).line


@dataclass(frozen=True, slots=True)
class _Confirmed:
    """What may be repaired: anything on the lines that raised, all else safely, or as told. A `checker.Wanted`."""

    lines: frozenset[tuple[str, int]]
    unsafe: bool

    def sift(self, findings: Sequence[Finding], sources: Mapping[str, Source], root: str) -> Choice:
        def place(finding: Finding) -> tuple[str, int]:
            path = finding.path or root
            return path, sources[path].position(finding.span.start).line

        wanted = (number for number, finding in enumerate(findings) if self.is_wanted(finding, place(finding)))
        return tuple(wanted), frozenset()

    def is_wanted(self, finding: Finding, place: tuple[str, int]) -> bool:
        """Whether its repair, if it has one, is to be made; `place` is its file and line."""
        return self.unsafe or not finding.is_unsafe or place in self.lines

    def after(self, changes: Iterable[Change]) -> _Confirmed:
        return self
