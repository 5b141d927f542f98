"""Checks, or fixes, many files: one by one, or in several processes, with the same result in the same order."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from autodetach.checker import Change, CheckOptions, Wanted, check
from autodetach.comments.marks import may_name_rules
from autodetach.decoding import SourceError
from autodetach.disk.files import NOTEBOOK_SUFFIX, FoundFile, ReadError, read_bytes, relative
from autodetach.disk.state import NOTHING, Ground, Mark, digest, known_at, mark_of
from autodetach.finding import Finding, Problem
from autodetach.projects import imports, twins
from autodetach.projects.imports import Imports
from autodetach.relevance import is_idle
from autodetach.source import Edit, Source
from autodetach.uses import Uses

if TYPE_CHECKING:
    from autodetach.cache import Cache
    from autodetach.fixing import Judge
    from autodetach.machine.evidence import Evidence
    from autodetach.record import Record

# Starting a process costs as much as checking several files.
MIN_FILES_FOR_POOL = 16
MIN_BYTES_FOR_POOL = 100_000
MAX_FILES_PER_TURN = 32
MAX_BYTES_PER_TURN = 200_000
"""What a process is given at a time: little enough that none is left with much to do when the others are done."""
MAX_TWINS_PER_TURN = 128
MAX_UNCOLLECTED = 50_000
"""Objects that may be left behind by files before those that died are looked for: some five megabytes."""
LOOKS_AT_NEW_ONES = 8
"""How often these are looked for among what is new, before they are among all that has stayed: trees of imports."""
MIN_FILES_FOR_CACHE = 8
"""Below that, to read what is known of a whole project takes longer than to look."""


class Task(NamedTuple):
    """A file to look at. `raw` are its bytes if they were read already (standard input).

    `unsafe` is None to check only, else whether unsafe fixes are wanted too. What the file imports may be edited too if
    it lies at or below one of the absolute paths `roots`, and is none of `forbidden`. `changed` has sources that are to
    be taken instead of what is on disk, by absolute path. `cwd` is the folder to which shown names are relative.
    `evidence` is what a run of the program has shown. With `notes`, the outcome says what it rests on. `is_beside`: it
    was not asked for, and is not edited, see `beside`. `judge`: what others say of its repairs.
    """

    file: FoundFile
    options: CheckOptions
    unsafe: bool | None = None
    raw: bytes | None = None
    roots: tuple[str, ...] = ()
    forbidden: frozenset[str] = frozenset()
    changed: Mapping[str, Source] = {}
    cwd: str = ""
    wanted: Wanted | None = None
    evidence: Evidence | None = None
    notes: bool = False
    is_beside: bool = False
    judge: Judge | None = None

    def may_edit(self, path: str) -> bool:
        """Whether another file, by its absolute path, may be edited."""
        return path not in self.forbidden and any(
            path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in self.roots
        )


class Outcome(NamedTuple):
    """What became of a task. Nothing is written: that is the business of the caller.

    `findings` are those left: they count in `source`, which is the fixed one if there are edits. `applied` and `edits`
    count in `original`. Both sources are None where there is neither a finding nor an edit, nor a comment that may
    silence one. `elsewhere` are changes of imported files, `sources` those of them that findings speak of, by absolute
    path, and `imported` all that were read. `used` and `known` are as in `CheckResult`. `ground` is what this rests on,
    None where nobody asked or where it may be otherwise the next time.
    """

    file: FoundFile
    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    source: Source | None = None
    original: Source | None = None
    applied: tuple[Finding, ...] = ()
    edits: tuple[Edit, ...] = ()
    elsewhere: tuple[Change, ...] = ()
    sources: Mapping[str, Source] = {}
    imported: tuple[str, ...] = ()
    used: frozenset[tuple[str, int]] = frozenset()
    known: frozenset[tuple[str, int, str]] = frozenset()
    ground: Ground | None = None
    uses: Mapping[str, Uses] = {}

    def source_of(self, path: str) -> Source | None:
        """The source in which what a finding says of `path` counts; of the analysed file where it is empty."""
        return self.sources.get(path) if path else self.source


def run(tasks: Sequence[Task], jobs: int, cache: Cache | None = None) -> Iterator[Outcome]:
    """The outcomes of the tasks in their order, with up to `jobs` processes. Never raises for what is in a file."""
    waiting: dict[int, Outcome] = {}
    at = 0
    for number, outcome in run_as_done(tasks, jobs, cache):
        waiting[number] = outcome
        while at in waiting:
            yield waiting.pop(at)
            at += 1


def run_as_done(tasks: Sequence[Task], jobs: int, cache: Cache | None = None) -> Iterator[tuple[int, Outcome]]:
    """The outcomes of the tasks as they come, each with the number of its task.

    What the cache knows is taken from there; the rest goes there, and is written down at the end.
    """
    imports.forget()
    twins.begin(len(tasks))
    if cache is None:
        yield from _run_all(tasks, jobs)
        return
    left = []
    for number, task in enumerate(tasks):
        outcome = _cached(task, cache)
        if outcome is None:
            left.append(number)
        else:
            yield number, outcome
    # What is wanted is chosen here: the cache is for all that ask.
    asked = [tasks[number]._replace(wanted=None, notes=True) for number in left]
    try:
        for n, outcome in _run_all(asked, jobs):
            task = tasks[left[n]]
            if outcome.ground is not None:
                cache.put(task.file.path, _options_key(task), _record_of(outcome), outcome.ground)
            yield left[n], _chosen(task, outcome)
    finally:
        # Also where somebody loses patience: the next run goes on from here.
        cache.save()


def run_one(task: Task) -> Outcome:
    """Do one task; whatever goes wrong becomes a Problem of the outcome."""
    file = task.file
    try:
        source = task.changed.get(file.path)
        mark = mark_of(file.path) if task.notes else NOTHING
        if source is None:
            raw = read_bytes(file.path) if task.raw is None else task.raw
            idle = _idle(task, raw, mark)
            if idle is not None:
                return idle
            source = _read(raw, file)
        only_checked = task.unsafe is None or file.path in task.forbidden
        outcome = _checked(task, source, mark) if only_checked else _fixed(task, source, unsafe=bool(task.unsafe))
        if outcome.problems:
            from autodetach.python2 import explained

            outcome = outcome._replace(problems=explained(outcome.problems, source))
        if source.is_joined:
            outcome = outcome._replace(problems=(*outcome.problems, *_of_cells(source, file)))
    except ReadError as error:
        return Outcome(file, problems=(Problem(file.shown, str(error), error.line),))
    except SourceError as error:
        return Outcome(file, problems=_problems(error, file))
    # One file that the tool cannot digest must not keep the others from being done.
    except Exception as error:
        return Outcome(file, problems=(Problem(file.shown, internal_error(error)),))
    return outcome


def _idle(task: Task, raw: bytes, mark: Mark) -> Outcome | None:
    """The outcome of a file that cannot have a finding, which is then not even decoded; None for all others.

    What comes from standard input is to be given back, or refused, and so is read in any case.
    """
    file = task.file
    is_asked = task.raw is not None or task.evidence is not None or task.options.whole
    if is_asked or file.path.endswith(NOTEBOOK_SUFFIX) or may_name_rules(raw):
        return None
    finder = Imports(file.path, task.cwd, notes=task.notes)
    if not is_idle(raw, file.path, finder, {path: source.raw for path, source in task.changed.items()}):
        return None
    return Outcome(file, ground=finder.ground(known_at(mark, digest(raw))) if task.notes else None)


def _read(raw: bytes, file: FoundFile) -> Source:
    """The source of a file. Raises SourceError."""
    if not file.path.endswith(NOTEBOOK_SUFFIX):
        return Source.from_bytes(raw, file.shown)
    from autodetach.notebooks.notebook import read

    return read(raw, file.shown)


def _problems(error: SourceError, file: FoundFile) -> tuple[Problem, ...]:
    if error.cell is None:
        return (Problem(file.shown, error.message, error.line, partial=error.skipped),)
    from autodetach.notebooks.cells import CellError
    from autodetach.python2 import explained

    problems = (Problem(file.shown, error.message, error.line, cell=error.cell),)
    return explained(problems, error.source) if isinstance(error, CellError) and error.source else problems


def _of_cells(source: Source, file: FoundFile) -> Iterator[Problem]:
    """What is wrong in cells of a notebook whose other cells were looked at."""
    from autodetach.notebooks.cells import Cells
    from autodetach.python2 import explained

    for cell in source.broken if isinstance(source, Cells) else ():
        problem = Problem(file.shown, cell.message, cell.line, cell=cell.number, around=True)
        yield from explained((problem,), cell.source)


def internal_error(error: Exception) -> str:
    """One line about a fault of our own."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].name}, line {frames[-1].lineno}" if frames else "an unknown place"
    text = " ".join(str(error).split())[:200]
    return f"internal error in {place}: {type(error).__name__}: {text}; please report it"


def _checked(task: Task, source: Source, mark: Mark) -> Outcome:
    path = task.file.path
    finder = Imports(path, task.cwd, notes=task.notes)
    is_plain = task.raw is None and task.evidence is None and source.file is source
    may_be_twin = is_plain and not task.changed and task.wanted is None and twins.are_possible()
    found = digest(source.stored) if may_be_twin or task.notes else ""
    ground = partial(finder.ground, known_at(mark, found)) if task.notes else None
    key = (found, _options_key(task)) if may_be_twin else None
    twin = None if key is None else twins.recalled(key, source, finder, path)
    if twin is not None:
        return _as_twin(task, source, twin, ground)
    result = check(
        source,
        task.options,
        path=path,
        finder=finder,
        changed=task.changed,
        wanted=task.wanted,
        evidence=task.evidence,
    )
    outcome = Outcome(
        task.file,
        result.findings,
        result.problems,
        source if result.findings or may_name_rules(source.raw) else None,
        sources=_spoken_of(result.findings, result.sources),
        imported=tuple(at for at in result.sources if at != path),
        used=result.used,
        known=result.known,
        ground=None if ground is None else ground(),
        uses=result.uses,
    )
    if key is not None and not outcome.imported:
        twins.keep(key, _record_of(outcome))
    return outcome


def _as_twin(task: Task, source: Source, twin: Record, ground: Callable[[], Ground] | None) -> Outcome:
    return Outcome(
        task.file,
        twin.findings,
        tuple(problem._replace(path=task.file.shown) for problem in twin.problems),
        source if twin.findings or twin.has_comments else None,
        used=twin.used,
        ground=None if ground is None else ground(),
        uses=twin.uses,
    )


def _fixed(task: Task, source: Source, *, unsafe: bool) -> Outcome:
    from autodetach.fixing import fix

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
        may_edit_own=not task.is_beside,
        judge=task.judge,
    )
    imported = tuple(at for at in result.sources if at != path)
    if not (result.remaining or result.changes or result.edits or may_name_rules(source.raw)):
        return Outcome(task.file, problems=result.problems, imported=imported, used=result.used, uses=result.uses)
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
        uses=result.uses,
    )


def _spoken_of(findings: Iterable[Finding], sources: Mapping[str, Source]) -> dict[str, Source]:
    paths = _paths_of(findings)
    return {path: source for path, source in sources.items() if path in paths}


def _paths_of(findings: Iterable[Finding]) -> set[str]:
    """The files that findings speak of, as these name them."""
    return {
        path
        for finding in findings
        for path in (
            finding.path,
            *(step.path for step in finding.story),
            *(at for fix in (finding.fix, *finding.alternatives) if fix is not None for at, _ in fix.elsewhere),
        )
    }


def _options_key(task: Task) -> str:
    """In words that are the same for the same options: what is looked for, and how findings and files are called."""
    codes = None if task.options.codes is None else sorted(task.options.codes)
    return repr((task.options._replace(codes=None), codes))


def _record_of(outcome: Outcome) -> Record:
    from autodetach.record import Record

    has_comments = outcome.source is not None and may_name_rules(outcome.source.raw)
    return Record(outcome.findings, outcome.problems, outcome.imported, outcome.used, has_comments, dict(outcome.uses))


def _cached(task: Task, cache: Cache) -> Outcome | None:
    """What the cache knows of a task; None if there is nothing, or if a file changes at this moment."""
    file = task.file
    found = cache.get(file.path, _options_key(task), file.shown)
    if found is None:
        return None
    record, digests = found
    source: Source | None = None
    sources: dict[str, Source] = {}
    try:
        if record.findings or record.has_comments:
            source = _read(_unchanged(file.path, digests), file)
        for path in sorted(_paths_of(record.findings) - {""}):
            is_own = path == file.path and source is not None
            shown = relative(path, task.cwd)
            sources[path] = source if is_own and source else Source.from_bytes(_unchanged(path, digests), shown)
    except (ReadError, SourceError):
        return None
    outcome = Outcome(
        file,
        record.findings,
        record.problems,
        source,
        sources=sources,
        imported=record.imported,
        used=record.used,
        uses=record.uses,
    )
    return _chosen(task, outcome)


def _unchanged(path: str, digests: Mapping[str, str]) -> bytes:
    """The bytes of a file that were analysed. Raises ReadError if it has others now."""
    raw = read_bytes(path)
    if digests.get(path) != digest(raw):
        raise ReadError("changed meanwhile")
    return raw


def _chosen(task: Task, outcome: Outcome) -> Outcome:
    """The outcome with those findings that are wanted."""
    if task.wanted is None or outcome.source is None:
        return outcome
    path = task.file.path
    sources = {path: outcome.source, **outcome.sources}
    places, known = task.wanted.sift(outcome.findings, sources, path)
    findings = tuple(outcome.findings[n] for n in places)
    source = outcome.source if findings or may_name_rules(outcome.source.raw) else None
    return outcome._replace(findings=findings, source=source, sources=_spoken_of(findings, sources), known=known)


def _run_all(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[int, Outcome]]:
    sizes = [_size(task) for task in tasks] if jobs > 1 and len(tasks) >= MIN_FILES_FOR_POOL else []
    if sizes and sum(sizes) >= MIN_BYTES_FOR_POOL:
        yield from _run_in_pool(tasks, sizes, jobs)
    else:
        yield from ((number, _run_and_tidy(task)) for number, task in enumerate(tasks))


def _size(task: Task) -> int:
    try:
        return os.stat(task.file.path).st_size if task.raw is None else len(task.raw)
    except (OSError, ValueError):
        return 0


def _turns(sizes: Sequence[int]) -> list[list[int]]:
    """The numbers of the tasks in turns of some size, the largest tasks first: whoever is free takes the next one."""
    turns: list[list[int]] = []
    room = 0
    for number in sorted(range(len(sizes)), key=lambda n: -sizes[n]):
        is_full = not turns or room < sizes[number] or len(turns[-1]) >= MAX_FILES_PER_TURN
        # What has the same size may be the same: see `twins`.
        is_other = not turns or sizes[number] != sizes[turns[-1][-1]] or len(turns[-1]) >= MAX_TWINS_PER_TURN
        if is_full and is_other:
            turns.append([])
            room = MAX_BYTES_PER_TURN
        turns[-1].append(number)
        room -= sizes[number]
    return turns


def _run_in_pool(tasks: Sequence[Task], sizes: Sequence[int], jobs: int) -> Iterator[tuple[int, Outcome]]:
    import concurrent.futures

    import autodetach.machine.exploring
    import autodetach.rules  # noqa: F401 - loaded once, and not in each process, where these are forked
    from autodetach.safe_path import safe_path

    turns = _turns(sizes)
    with safe_path():
        pool = concurrent.futures.ProcessPoolExecutor(min(jobs, len(turns)), initializer=_begin)
    with pool:
        try:
            with safe_path():
                futures = {pool.submit(_run_turn, [tasks[n] for n in turn]): turn for turn in turns}
            for future in concurrent.futures.as_completed(futures):
                turn = futures[future]
                try:
                    yield from zip(turn, future.result(), strict=True)
                except concurrent.futures.BrokenExecutor:
                    for task, number in ((tasks[n], n) for n in turn):
                        message = "not checked, because a process died (out of memory?); try again with -j 1"
                        yield number, Outcome(task.file, problems=(Problem(task.file.shown, message),))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _run_turn(tasks: Sequence[Task]) -> list[Outcome]:
    return [_run_and_tidy(task) for task in tasks]


def _run_and_tidy(task: Task) -> Outcome:
    """Do a task, with Python's collector of cycles between files and not within them.

    What the machine leaves behind is full of cycles. Looked for in between, much of it would still be in use, and so be
    taken for what lasts.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        return run_one(task)
    finally:
        new, _, looks = gc.get_count()
        if new > MAX_UNCOLLECTED:
            gc.collect(1 if looks < LOOKS_AT_NEW_ONES else 2)
        if enabled:
            gc.enable()


def _begin() -> None:
    """Begin a process of the pool."""
    import signal

    # Ctrl-C reaches every process of the terminal; only the first one shall speak.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What is there at the beginning stays: nobody has to look through it again and again.
    gc.freeze()
