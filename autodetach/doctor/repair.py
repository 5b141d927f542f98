"""From what a run has shown to the findings that explain it, and what their repairs change: the same rules as ever."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from autodetach.checker import Change
from autodetach.config import Configuration
from autodetach.doctor.diagnosis import Diagnosis, Kind
from autodetach.explain import explain, read_log, task_for
from autodetach.files import FoundFile, relative
from autodetach.finding import Applicability, Finding, Problem
from autodetach.gather import gather
from autodetach.machine.evidence import Evidence
from autodetach.report import Located
from autodetach.runner import run_one
from autodetach.settle import settle
from autodetach.source import Source

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
    """`answers` are the findings that the run has confirmed, `changes` what their repairs make of the files."""

    answers: tuple[Located, ...]
    changes: tuple[Change, ...]
    repaired: tuple[Finding, ...]
    problems: tuple[Problem, ...]


def repair(seen: Observations, cwd: str, configuration: Configuration, *, unsafe: bool) -> Repair:
    """Ask the machine about the files of a run. Raises ConfigError.

    A program that raised did not train, so the repair of what raised may be an unsafe one; of the others only safe ones
    are taken, unless `unsafe`.
    """
    tasks = [
        replace(task_for(FoundFile(path, relative(path, cwd)), cwd, configuration), evidence=seen.evidence)
        for path in _files(seen)
    ]
    outcomes = [run_one(task) for task in tasks]
    located = gather(outcomes, configuration)
    answers = {id(one): one for one in located if any(_answers(diagnosis, one) for diagnosis in seen.diagnoses)}
    raising = {id(one): one for one in located if any(d.kind.raises and _answers(d, one) for d in seen.diagnoses)}
    reading = read_log(seen.traceback.encode("utf-8", "backslashreplace")) if seen.traceback else None
    told = explain(reading, cwd, configuration, unsafe=False).answers if reading is not None else ()
    for one in located:
        if any(_is_same(one, other) for other in told):
            answers[id(one)] = raising[id(one)] = one
    wanted = _Confirmed(frozenset(map(_key, raising.values())), unsafe)
    folders = tuple(dict.fromkeys((cwd, *(os.path.dirname(task.file.path) for task in tasks))))
    fixing = [replace(task, unsafe=True, wanted=wanted, roots=folders) for task in tasks]
    settled = settle(fixing, [run_one(task) for task in fixing]) if any(o.findings for o in outcomes) else None
    return Repair(
        tuple(answers.values()),
        () if settled is None else settled.changes,
        () if settled is None else tuple(finding for outcome in settled.outcomes for finding in outcome.applied),
        tuple(dict.fromkeys(problem for outcome in outcomes for problem in outcome.problems)),
    )


def _files(seen: Observations) -> list[str]:
    """The files to look at, the program first."""
    lines = (path for diagnosis in seen.diagnoses for path, _ in sorted(diagnosis.lines))
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


def _is_same(one: Located, other: Located) -> bool:
    return (one.path, one.finding.code, one.finding.span) == (other.path, other.finding.code, other.finding.span)


@dataclass(frozen=True, slots=True)
class _Confirmed:
    """What may be repaired: anything on the lines that raised, all else safely, or as told. A `checker.Wanted`."""

    lines: frozenset[tuple[str, int]]
    unsafe: bool

    def sift(
        self, findings: Sequence[Finding], sources: Mapping[str, Source], root: str
    ) -> tuple[tuple[int, ...], frozenset[tuple[str, int, str]]]:
        def is_wanted(finding: Finding) -> bool:
            if self.unsafe or finding.fix is None or finding.fix.applicability is Applicability.SAFE:
                return True
            path = finding.path or root
            return (path, sources[path].position(finding.span.start).line) in self.lines

        return tuple(number for number, finding in enumerate(findings) if is_wanted(finding)), frozenset()

    def after(self, changes: Iterable[Change]) -> _Confirmed:
        return self
