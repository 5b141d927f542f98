"""Checks, or fixes, many files, with the same result in the same order however many processes there are.

What the cache knows is not done again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from autodetach.comments.marks import may_name_rules
from autodetach.decoding import SourceError
from autodetach.disk.files import ReadError, read_bytes, relative
from autodetach.disk.state import digest
from autodetach.perform import read
from autodetach.pool import run_all
from autodetach.projects import imports, twins
from autodetach.source import Source
from autodetach.task import Outcome, Task, options_key, paths_of, record_of, spoken_of

if TYPE_CHECKING:
    from autodetach.cache import Cache

MIN_FILES_FOR_CACHE = 8
"""Below that, to read what is known of a whole project takes longer than to look."""


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
        yield from run_all(tasks, jobs)
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
        for n, outcome in run_all(asked, jobs):
            task = tasks[left[n]]
            if outcome.ground is not None:
                cache.put(task.file.path, options_key(task), record_of(outcome), outcome.ground)
            yield left[n], _chosen(task, outcome)
    finally:
        # Also where somebody loses patience: the next run goes on from here.
        cache.save()


def _cached(task: Task, cache: Cache) -> Outcome | None:
    """What the cache knows of a task; None if there is nothing, or if a file changes at this moment."""
    file = task.file
    found = cache.get(file.path, options_key(task), file.shown)
    if found is None:
        return None
    record, digests = found
    source: Source | None = None
    sources: dict[str, Source] = {}
    try:
        if record.findings or record.has_comments:
            source = read(_unchanged(file.path, digests), file)
        for path in sorted(paths_of(record.findings) - {""}):
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
    return outcome._replace(findings=findings, source=source, sources=spoken_of(findings, sources), known=known)
