"""Checks, or fixes, one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from autodetach.checker import check
from autodetach.comments.marks import may_name_rules
from autodetach.decoding import SourceError
from autodetach.disk.files import NOTEBOOK_SUFFIX, FoundFile, ReadError, read_bytes
from autodetach.disk.state import NOTHING, Ground, Mark, digest, known_at, mark_of
from autodetach.finding import Problem
from autodetach.projects import twins
from autodetach.projects.imports import Imports
from autodetach.relevance import is_idle
from autodetach.source import Source
from autodetach.task import Outcome, Task, options_key, record_of, spoken_of

if TYPE_CHECKING:
    from autodetach.record import Record


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
            source = read(raw, file)
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


def read(raw: bytes, file: FoundFile) -> Source:
    """The source of a file. Raises SourceError."""
    if not file.path.endswith(NOTEBOOK_SUFFIX):
        return Source.from_bytes(raw, file.shown)
    from autodetach.notebooks.notebook import read as read_notebook

    return read_notebook(raw, file.shown)


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
    key = (found, options_key(task)) if may_be_twin else None
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
        sources=spoken_of(result.findings, result.sources),
        imported=tuple(at for at in result.sources if at != path),
        used=result.used,
        known=result.known,
        ground=None if ground is None else ground(),
        uses=result.uses,
    )
    if key is not None and not outcome.imported:
        twins.keep(key, record_of(outcome))
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
        spoken_of((*result.remaining, *result.applied), result.sources),
        imported,
        result.used,
        uses=result.uses,
    )
