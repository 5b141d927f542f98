"""The comments of a run that silence nothing: known only at its end, since files import each other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from autodetach.checks import Change
from autodetach.comments.marks import may_name_rules
from autodetach.disk.files import ReadError, find_files, read_bytes
from autodetach.finding import Finding, Fix
from autodetach.projects.imports import project_root
from autodetach.settings.config import Configuration
from autodetach.settle import Settled
from autodetach.source import Edit, Source, Span, compose, offset_before
from autodetach.task import Outcome, Task

MAX_FILES = 2000
"""So many files are searched for the name of a module; where there are more, nothing is said about its comments."""

_IMPORT = re.compile(
    rb"^[ \t]*\"?(?:from|import)\b[^\n(]*(?:\([^)]*)?|\b(?:import_module|__import__)[ \t]*\([^)]*", re.MULTILINE
)
_WORD = re.compile(rb"[\w\x80-\xff]+")


class Views:
    """Which files a run has seen from all sides: as they are, and as those see them that import them."""

    def __init__(self, outcomes: Sequence[Outcome], configuration: Configuration, cwd: str) -> None:
        self._configuration = configuration
        self._cwd = cwd
        self._asked = {outcome.file.path for outcome in outcomes if not outcome.problems}
        self._doubtful = {p for o in outcomes if o.problems for p in (o.file.path, *o.imported)}
        self._imported: dict[str, frozenset[bytes] | None] = {}

    def are_whole(self, path: str) -> bool:
        """Whether all findings in the file at the absolute path are known. Where it is not clear, no."""
        if path not in self._asked or path in self._doubtful:
            return False
        folder, name = os.path.split(path)
        stem = name.partition(".")[0]
        if stem == "__init__":
            stem = os.path.basename(folder)
        imported = self._imported_in(project_root(folder))
        return imported is not None and not imported.issuperset(_WORD.findall(os.fsencode(stem)))

    def _imported_in(self, project: str) -> frozenset[bytes] | None:
        """The words in the imports of those files of a project that were not asked for; None where they are many."""
        if project not in self._imported:
            files = find_files([project], self._configuration, self._cwd).files
            others = (file.path for file in files if file.path not in self._asked)
            few = len(files) <= MAX_FILES
            self._imported[project] = frozenset().union(*map(_words_of_imports, others)) if few else None
        return self._imported[project]


def with_unused(tasks: Sequence[Task], settled: Settled, views: Views) -> Settled:
    """The same with the comments that silence nothing as findings; they are removed where files are fixed."""
    used: dict[str, set[int]] = {}
    for outcome in settled.outcomes:
        for path, mark in outcome.used:
            used.setdefault(path or outcome.file.path, set()).add(mark)
    changes = {change.path: change for change in settled.changes}
    outcomes = []
    for task, outcome in zip(tasks, settled.outcomes, strict=True):
        path = outcome.file.path
        found = _unused(task, outcome, used.get(path, set()), views)
        if found and task.unsafe is not None and outcome.source is not None:
            outcome, change = _without(task, outcome, used.get(path, set()), changes.get(path))
            if change is not None:
                changes[path] = change
        elif found:
            findings = (*outcome.findings, *found)
            outcome = outcome._replace(findings=tuple(sorted(findings, key=lambda f: (f.path, f.span.start, f.code))))
        outcomes.append(outcome)
    return Settled(tuple(outcomes), tuple(changes.values()))


def _unused(task: Task, outcome: Outcome, used: Iterable[int], views: Views) -> tuple[Finding, ...]:
    source, codes = outcome.source, task.options.codes
    if source is None or (codes is not None and "AD901" not in codes):
        return ()
    if not may_name_rules(source.raw):
        return ()
    from autodetach.comments.unused import unused

    found = unused(source, frozenset(used), codes)
    if not found or not views.are_whole(outcome.file.path):
        return ()
    return found if task.unsafe is not None else _wanted(task, source, found, ())


def _wanted(task: Task, source: Source, found: tuple[Finding, ...], changes: tuple[Change, ...]) -> tuple[Finding, ...]:
    """Those that are wanted in a source that is what these changes have made of the file."""
    if task.wanted is None or not found:
        return found
    places, _ = task.wanted.after(changes).sift(found, {task.file.path: source}, task.file.path)
    return tuple(found[n] for n in places)


def _without(task: Task, outcome: Outcome, used: set[int], earlier: Change | None) -> tuple[Outcome, Change | None]:
    """The outcome without those comments, removed one after the other, since several may share a line."""
    from autodetach.comments.unused import unused

    start = source = outcome.source if earlier is None else earlier.source
    assert source is not None
    assert start is not None
    original = start if earlier is None else earlier.original
    made: tuple[Edit, ...] = ()
    applied: list[Finding] = []
    left: tuple[Finding, ...] = ()
    total = () if earlier is None else earlier.edits
    for _ in range(source.line_count + 1):
        so_far = (Change(task.file.path, original, total, source),)
        found = _wanted(task, source, unused(source, used, task.options.codes), so_far)
        first = next((f for f in found if f.fix is not None), None)
        left = tuple(f for f in found if f.fix is None)
        if first is None or first.fix is None:
            break
        at = (offset_before(original, total, end) for end in (first.span.start, first.span.end))
        applied.append(first._replace(span=Span(*at)))
        used = {source.map_offset(first.fix.edits, mark) for mark in used}
        made = compose(made, first.fix.edits, start)
        total = made if earlier is None else compose(earlier.edits, made, original)
        source = source.with_edits(first.fix.edits)
    if not made:
        return outcome._replace(findings=(*outcome.findings, *left)), None
    findings = tuple(_moved(finding, start, made, source) for finding in outcome.findings)
    change = Change(task.file.path, original, total, source)
    outcome = outcome._replace(
        findings=(*findings, *left),
        source=source,
        original=original,
        applied=(*outcome.applied, *applied),
        edits=change.edits,
    )
    return outcome, change


def _moved(finding: Finding, old: Source, edits: tuple[Edit, ...], new: Source) -> Finding:
    """A finding of a source in terms of that source without some comments."""

    def offset(at: int) -> int:
        return old.map_offset(edits, at)

    def line(number: int) -> int:
        if not 1 <= number <= old.line_count:
            return number
        return new.position(offset(old.line_span(number).start)).line

    def fix(one: Fix) -> Fix:
        moved = (Edit(offset(e.start), offset(e.end), e.replacement) for e in one.edits)
        return one._replace(edits=one.edits if finding.path else tuple(moved))

    span = finding.span if finding.path else Span(offset(finding.span.start), offset(finding.span.end))
    story = tuple(step if step.path else step._replace(line=line(step.line)) for step in finding.story)
    repair = None if finding.fix is None else fix(finding.fix)
    return finding._replace(span=span, story=story, fix=repair, alternatives=tuple(map(fix, finding.alternatives)))


def _words_of_imports(path: str) -> set[bytes]:
    try:
        raw = read_bytes(path)
    except ReadError:
        return set()
    return {word for match in _IMPORT.finditer(raw) for word in _WORD.findall(match[0])}
