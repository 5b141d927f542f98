"""Checks, or fixes, many files: one by one, or in several processes, with the same result in the same order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from autodetach.checker import Change, CheckOptions, Wanted, check, fix
from autodetach.files import NOTEBOOK_SUFFIX, FoundFile, ReadError, read_bytes
from autodetach.finding import Finding, Problem
from autodetach.imports import Imports
from autodetach.source import Edit, Source, SourceError
from autodetach.suppress import may_name_rules

if TYPE_CHECKING:
    from autodetach.machine.evidence import Evidence

# Starting a process costs as much as checking several files.
MIN_FILES_FOR_POOL = 16
MAX_FILES_PER_TURN = 8


@dataclass(frozen=True, slots=True)
class Task:
    """A file to look at. `raw` are its bytes if they were read already (standard input).

    `unsafe` is None to check only, else whether unsafe fixes are wanted too. What the file imports may be edited too if
    it lies at or below one of the absolute paths `roots`, and is none of `forbidden`. `changed` has sources that are to
    be taken instead of what is on disk, by absolute path. `cwd` is the folder to which shown names are relative.
    `evidence` is what a run of the program has shown.
    """

    file: FoundFile
    options: CheckOptions
    unsafe: bool | None = None
    raw: bytes | None = None
    roots: tuple[str, ...] = ()
    forbidden: frozenset[str] = frozenset()
    changed: Mapping[str, Source] = field(default_factory=dict)
    cwd: str = ""
    wanted: Wanted | None = None
    evidence: Evidence | None = None

    def may_edit(self, path: str) -> bool:
        """Whether another file, by its absolute path, may be edited."""
        return path not in self.forbidden and any(
            path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in self.roots
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a task. Nothing is written: that is the business of the caller.

    `findings` are those left: they count in `source`, which is the fixed one if there are edits. `applied` and `edits`
    count in `original`. Both sources are None where there is neither a finding nor an edit, nor a comment that may
    silence one. `elsewhere` are changes of imported files, `sources` those of them that findings speak of, by absolute
    path, and `imported` all that were read. `used` and `known` are as in `CheckResult`.
    """

    file: FoundFile
    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    source: Source | None = None
    original: Source | None = None
    applied: tuple[Finding, ...] = ()
    edits: tuple[Edit, ...] = ()
    elsewhere: tuple[Change, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    imported: tuple[str, ...] = ()
    used: frozenset[tuple[str, int]] = frozenset()
    known: frozenset[tuple[str, int, str]] = frozenset()

    def source_of(self, path: str) -> Source | None:
        """The source in which what a finding says of `path` counts; of the analysed file where it is empty."""
        return self.sources.get(path) if path else self.source


def run(tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    """The outcomes of the tasks in their order, with up to `jobs` processes. Never raises for what is in a file."""
    if jobs > 1 and len(tasks) >= MIN_FILES_FOR_POOL:
        return _run_in_pool(tasks, jobs)
    return map(run_one, tasks)


def run_one(task: Task) -> Outcome:
    """Do one task; whatever goes wrong becomes a Problem of the outcome."""
    file = task.file
    try:
        source = task.changed.get(file.path)
        if source is None:
            raw = read_bytes(file.path) if task.raw is None else task.raw
            source = _read(raw, file)
        outcome = _checked(task, source) if task.unsafe is None else _fixed(task, source, unsafe=task.unsafe)
        if outcome.problems:
            from autodetach.python2 import explained

            return replace(outcome, problems=explained(outcome.problems, source))
    except ReadError as error:
        return Outcome(file, problems=(Problem(file.shown, str(error), error.line),))
    except SourceError as error:
        return Outcome(file, problems=_problems(error, file))
    # One file that the tool cannot digest must not keep the others from being done.
    except Exception as error:
        return Outcome(file, problems=(Problem(file.shown, internal_error(error)),))
    return outcome


def _read(raw: bytes, file: FoundFile) -> Source:
    """The source of a file. Raises SourceError."""
    if not file.path.endswith(NOTEBOOK_SUFFIX):
        return Source.from_bytes(raw, file.shown)
    from autodetach.notebook import read

    return read(raw, file.shown)


def _problems(error: SourceError, file: FoundFile) -> tuple[Problem, ...]:
    if error.cell is None:
        return (Problem(file.shown, error.message, error.line, partial=error.skipped),)
    from autodetach.cells import CellError
    from autodetach.python2 import explained

    problems = (Problem(file.shown, error.message, error.line, cell=error.cell),)
    return explained(problems, error.source) if isinstance(error, CellError) and error.source else problems


def internal_error(error: Exception) -> str:
    """One line about a fault of our own."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].name}, line {frames[-1].lineno}" if frames else "an unknown place"
    text = " ".join(str(error).split())[:200]
    return f"internal error in {place}: {type(error).__name__}: {text}; please report it"


def _checked(task: Task, source: Source) -> Outcome:
    path = task.file.path
    finder = Imports(path, task.cwd)
    result = check(
        source,
        task.options,
        path=path,
        finder=finder,
        changed=task.changed,
        wanted=task.wanted,
        evidence=task.evidence,
    )
    return Outcome(
        task.file,
        result.findings,
        result.problems,
        source if result.findings or may_name_rules(source.raw) else None,
        sources=_spoken_of(result.findings, result.sources),
        imported=tuple(at for at in result.sources if at != path),
        used=result.used,
        known=result.known,
    )


def _fixed(task: Task, source: Source, *, unsafe: bool) -> Outcome:
    path = task.file.path
    result = fix(
        source,
        task.options,
        unsafe=unsafe,
        path=path,
        finder=Imports(path, task.cwd),
        changed=task.changed,
        may_edit=task.may_edit,
        wanted=task.wanted,
        evidence=task.evidence,
    )
    imported = tuple(at for at in result.sources if at != path)
    if not (result.remaining or result.changes or result.edits or may_name_rules(source.raw)):
        return Outcome(task.file, problems=result.problems, imported=imported, used=result.used)
    return Outcome(
        task.file,
        result.remaining,
        result.problems,
        result.source,
        source,
        result.applied,
        result.edits,
        tuple(change for change in result.changes if change.path != path),
        _spoken_of((*result.remaining, *result.applied), result.sources),
        imported,
        result.used,
    )


def _spoken_of(findings: Iterable[Finding], sources: Mapping[str, Source]) -> dict[str, Source]:
    paths = {
        path
        for finding in findings
        for path in (
            finding.path,
            *(step.path for step in finding.story),
            *(at for fix in (finding.fix, *finding.alternatives) if fix is not None for at, _ in fix.elsewhere),
        )
    }
    return {path: source for path, source in sources.items() if path in paths}


def _run_in_pool(tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    import concurrent.futures

    from autodetach.safe_path import safe_path

    size = max(1, min(MAX_FILES_PER_TURN, len(tasks) // (4 * jobs)))
    turns = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    with safe_path():
        pool = concurrent.futures.ProcessPoolExecutor(min(jobs, len(turns)), initializer=_ignore_interrupts)
    with pool:
        try:
            with safe_path():
                futures = [pool.submit(_run_turn, turn) for turn in turns]
            for turn, future in zip(turns, futures, strict=True):
                try:
                    yield from future.result()
                except concurrent.futures.BrokenExecutor:
                    for task in turn:
                        message = "not checked, because a process died (out of memory?); try again with -j 1"
                        yield Outcome(task.file, problems=(Problem(task.file.shown, message),))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _run_turn(tasks: Sequence[Task]) -> list[Outcome]:
    return [run_one(task) for task in tasks]


def _ignore_interrupts() -> None:
    """Ctrl-C reaches every process of the terminal; only the first one shall speak."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
