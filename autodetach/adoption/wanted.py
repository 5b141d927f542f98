"""Which findings somebody wants to hear of: those that no baseline records, and that a change has to do with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from autodetach.adoption.baseline import Baseline, Entry, Scopes
from autodetach.adoption.changed import ChangedLines
from autodetach.checks import Change, Choice
from autodetach.finding import Finding
from autodetach.source import Edit, Source, Span

_BETWEEN = "\0"


@dataclass(frozen=True, slots=True)
class Filter:
    """See `checker.Wanted`. None where there is no baseline, or no change to look at."""

    baseline: Baseline | None = None
    changed: ChangedLines | None = None

    def sift(self, findings: Sequence[Finding], sources: Mapping[str, Source], root: str) -> Choice:
        """See `checker.Wanted`."""
        known = self._known(findings, sources, root)
        wanted = tuple(
            n for n, finding in enumerate(findings) if n not in known and self._is_changed(finding, sources, root)
        )
        return wanted, frozenset(
            (findings[n].path, findings[n].span.start, _BETWEEN.join(entry)) for n, entry in known.items()
        )

    def after(self, changes: Iterable[Change]) -> Filter:
        """The same where files have been changed meanwhile: lines are counted anew."""
        if self.changed is None:
            return self
        lines = dict(self.changed.lines)
        for change in changes:
            lines[change.path] = tuple(_moved(change, *span) for span in lines.get(change.path, ()))
        return replace(self, changed=replace(self.changed, lines=lines))

    def _known(self, findings: Sequence[Finding], sources: Mapping[str, Source], root: str) -> dict[int, Entry]:
        """Those that the baseline records, by their place; of equal ones as many as it says, the first ones first.

        Several of one rule at one place are told as one, and so count as one.
        """
        if self.baseline is None or not findings:
            return {}
        paths = {entry.path for entry in self.baseline.counts}
        scopes: dict[str, Scopes] = {}
        seen: Counter[Entry] = Counter()
        told: dict[tuple[str, str, Span], bool] = {}
        known: dict[int, Entry] = {}
        for n, finding in enumerate(findings):
            at = finding.path or root
            name = self.baseline.path_of(at)
            if name not in paths:
                continue
            if at not in scopes:
                scopes[at] = Scopes(sources[at])
            entry = scopes[at].entry(name, finding.code, finding.span)
            place = (at, finding.code, finding.span)
            if place not in told:
                seen[entry] += 1
                told[place] = seen[entry] > self.baseline.counts.get(entry, 0)
            if not told[place]:
                known[n] = entry
        return known

    def _is_changed(self, finding: Finding, sources: Mapping[str, Source], root: str) -> bool:
        changed = self.changed
        return changed is None or any(
            changed.touches(path or root, first, last) for path, first, last in _lines_of(finding, sources, root)
        )


def entry_of(name: str) -> Entry:
    """The entry that `Filter.sift` calls by this name."""
    return Entry(*name.split(_BETWEEN))


def _lines_of(finding: Finding, sources: Mapping[str, Source], root: str) -> Iterator[tuple[str, int, int]]:
    """The lines that a finding speaks of: its place, its story and its fix, each with the file."""
    yield (finding.path, *sources[finding.path or root].lines_of(finding.span))
    for step in finding.story:
        yield step.path, step.line, step.line
    if finding.fix is not None:
        edits: tuple[tuple[str, tuple[Edit, ...]], ...] = ((finding.path, finding.fix.edits), *finding.fix.elsewhere)
        for path, made in edits:
            for edit in made:
                yield (path, *sources[path or root].lines_of(Span(edit.start, edit.end)))


def _moved(change: Change, first: int, last: int) -> tuple[int, int]:
    def line(number: int) -> int:
        number = min(max(1, number), max(1, change.original.line_count))
        start = change.original.line_span(number).start
        return change.source.position(change.original.map_offset(change.edits, start)).line

    return line(first), line(last)
