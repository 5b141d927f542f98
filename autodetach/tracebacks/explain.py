"""From an autograd error in a log to the findings that explain it, and what their repairs change."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autodetach.checks import Change, Choice
from autodetach.disk.files import FoundFile
from autodetach.finding import Finding, Problem
from autodetach.gather import gather
from autodetach.perform import run_one
from autodetach.report import Located
from autodetach.settings.config import Configuration, posix
from autodetach.settle import settle
from autodetach.source import Source
from autodetach.task import Outcome, Task
from autodetach.tracebacks.autograd_errors import places_in
from autodetach.tracebacks.failure import Reading
from autodetach.tracebacks.files import Places, Understood
from autodetach.tracebacks.text import read

MAX_FRAMES = 60
MAX_FILES = 12
"""Files that are run on the machine: those of the innermost frames."""
WINDOW = 8_000_000
"""Bytes of a log in which the last error is looked for."""
BEHIND = 200_000
"""Bytes of it that may follow the words of the error: pytest says last where it was."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What could be made of an error.

    `frames` are the user's, innermost last, and `forward` those of the forward pass that anomaly detection told.
    `answers` explain the error, best first; `others` are findings about something else in the same files. `changes` are
    what the repairs of the answers make of the files, `repaired` the answers that they repair.
    """

    reading: Reading
    frames: tuple[Understood, ...]
    forward: tuple[Understood, ...] = ()
    answers: tuple[Located, ...] = ()
    others: tuple[Located, ...] = ()
    changes: tuple[Change, ...] = ()
    repaired: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()


def read_log(raw: bytes) -> Reading | None:
    """The autograd error in the bytes of a log, of a long one in the part around the last; None if there is none."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        # What `>` of PowerShell writes.
        return read(raw.decode("utf-16", "replace"))
    if len(raw) > WINDOW:
        last = max(places_in(raw), default=len(raw))
        raw = raw[max(0, last + BEHIND - WINDOW) : last + BEHIND]
    return read(raw.decode("utf-8-sig", "replace"))


def explain(
    reading: Reading, cwd: str, configuration: Configuration, *, unsafe: bool, alternatives: bool = False
) -> Explanation:
    """Run the files of an error on the machine, and ask which findings it comes from. Raises ConfigError.

    Paths are seen from the absolute folder `cwd`. With `unsafe`, `changes` have unsafe repairs too.
    """
    places = Places(cwd, configuration)
    failure = reading.failure
    frames = frames_of(reading, places)
    forward = tuple(places.understand(f) for f in failure.forward[-MAX_FRAMES:] if not f.is_library)
    tasks = _tasks((*frames, *forward), cwd, configuration, alternatives)
    outcomes = [run_one(task) for task in tasks]
    located = gather(outcomes, configuration)
    answers = answers_among(located, reading, frames, forward)
    chosen = {id(one) for one in answers}
    changes, repaired = _repaired(tasks, answers, unsafe)
    return Explanation(
        reading,
        frames,
        forward,
        tuple(answers),
        tuple(one for one in located if id(one) not in chosen),
        changes,
        repaired,
        tuple(dict.fromkeys(problem for outcome in outcomes for problem in outcome.problems)),
    )


def answers_among(
    located: Iterable[Located], reading: Reading, frames: Sequence[Understood], forward: Sequence[Understood] = ()
) -> list[Located]:
    """Which findings explain an error, best first; `frames` and `forward` as in `Explanation`."""
    kind = reading.failure.kind
    may_answer = [one for one in located if one.finding.code.startswith(kind.codes)]
    ranks = {id(one): _rank(one, frames, forward) for one in may_answer}
    answers = [one for one in may_answer if kind.anywhere or ranks[id(one)][0] < len(frames)]
    answers.sort(key=lambda one: ranks[id(one)])
    if not kind.anywhere:
        # What touches the line that raised answers; only if nothing does, what touches a line that led to it.
        answers = [one for one in answers if ranks[id(one)][0] == ranks[id(answers[0])][0]]
    return answers


def frames_of(reading: Reading, places: Places) -> tuple[Understood, ...]:
    """The user's frames of an error, innermost last."""
    return tuple(places.understand(frame) for frame in reading.failure.own_frames[-MAX_FRAMES:])


def _tasks(frames: Iterable[Understood], cwd: str, configuration: Configuration, alternatives: bool) -> list[Task]:
    """A task for each file, that of the outermost frame first: it is the program."""
    files = list(dict.fromkeys(frame.file for frame in frames if frame.file is not None))
    return [task_for(file, cwd, configuration, alternatives) for file in files[-MAX_FILES:]]


def task_for(file: FoundFile, cwd: str, configuration: Configuration, alternatives: bool = False) -> Task:
    """The task that looks at one file with the settings that hold there. Raises ConfigError."""
    options = configuration.settings_for(os.path.dirname(file.path)).options_for(posix(file.path))
    # Whoever asks about an error wants to hear of it, whatever the settings leave out.
    return Task(file, options._replace(codes=None, alternatives=alternatives), cwd=cwd)


def _rank(one: Located, frames: Sequence[Understood], forward: Sequence[Understood]) -> tuple[int, bool, bool, int]:
    """How near a finding is to the error: by the frame, from the innermost, that its story comes to."""
    lines = {(one.path_of(step.path), step.line) for step in one.finding.story}
    lines.add((one.path, one.source.position(one.finding.span.start).line))
    touched = [
        number for number, frame in enumerate(reversed(frames)) if any(frame.holds(path, line) for path, line in lines)
    ]
    is_made_there = any(frame.holds(path, line) for frame in forward for path, line in lines)
    return min(touched, default=len(frames)), not is_made_there, one.finding.fix is None, one.finding.span.start


@dataclass(frozen=True, slots=True)
class _Only:
    """Of all findings, some, by file, code and offset. A `checker.Wanted`."""

    keys: frozenset[tuple[str, str, int]]

    def sift(self, findings: Sequence[Finding], sources: Mapping[str, Source], root: str) -> Choice:
        places = (n for n, f in enumerate(findings) if (f.path or root, f.code, f.span.start) in self.keys)
        return tuple(places), frozenset()

    def after(self, changes: Iterable[Change]) -> _Only:
        return self


def _repaired(
    tasks: Sequence[Task], answers: Sequence[Located], unsafe: bool
) -> tuple[tuple[Change, ...], tuple[Finding, ...]]:
    """What the repairs of the answers change, each proven on what the one before has made of the files."""
    wanted = _Only(frozenset((one.path, one.finding.code, one.finding.span.start) for one in answers))
    roots = {one.root for one in answers if one.finding.fix is not None}
    folders = tuple(dict.fromkeys((*(task.cwd for task in tasks), *(task.file.path for task in tasks))))
    fixing = [task._replace(unsafe=unsafe, wanted=wanted, roots=folders) for task in tasks if task.file.path in roots]
    settled = settle(fixing, [run_one(task) for task in fixing])
    return settled.changes, _applied(settled.outcomes)


def _applied(outcomes: Iterable[Outcome]) -> tuple[Finding, ...]:
    return tuple(finding for outcome in outcomes for finding in outcome.applied)
