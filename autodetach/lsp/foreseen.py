"""What an analysis will probably show, told from its first path while the others are run.

The other paths of a program mostly show what they have shown before the last edit. So what the last analysis found
beyond its own first path is added, where it stands now, and what it took back is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from autodetach.finding import Finding, StoryStep
from autodetach.incremental.reparse import common_lines
from autodetach.source import Source, Span
from autodetach.task import Outcome


@dataclass(frozen=True, slots=True)
class Seen:
    """What one analysis has shown: its first path by itself, and all of them, in `source`."""

    source: Source
    first: Outcome
    whole: Outcome


def foreseen(before: Seen, first: Outcome, source: Source) -> Outcome:
    """What all paths of an edited program will show, whose first path shows this; of repairs, nothing is said."""
    move = _Move(before.source, source)
    own = {_name(finding) for finding in before.first.findings}
    whole = {_name(finding) for finding in before.whole.findings}
    more = (move.finding(f) for f in before.whole.findings if _name(f) not in own)
    taken_back = {_name(moved) for f in before.first.findings if _name(f) not in whole and (moved := move.finding(f))}
    findings = [f for f in first.findings if _name(f) not in taken_back]
    known = {_name(f) for f in findings}
    findings += (f for f in more if f is not None and _name(f) not in known)
    findings.sort(key=lambda f: (f.path, f.span.start, f.code))
    problems = tuple(dict.fromkeys((*first.problems, *(p for p in before.whole.problems if p.partial))))
    sources = {**before.whole.sources, **first.sources}
    return first._replace(findings=tuple(findings), problems=problems, source=source, sources=sources)


def seen(before: Seen | None, first: Outcome | None, whole: Outcome, source: Source) -> Seen:
    """What is to be remembered of an analysis; where it told nothing of its first path, what was known of that."""
    if first is not None or before is None:
        return Seen(source, first or whole, whole)
    move = _Move(before.source, source)
    own = {_name(finding) for finding in before.first.findings}
    known = {_name(finding) for finding in before.whole.findings}
    more = {_name(moved) for f in before.whole.findings if _name(f) not in own and (moved := move.finding(f))}
    findings = [f for f in whole.findings if _name(f) not in more]
    findings += (moved for f in before.first.findings if _name(f) not in known and (moved := move.finding(f)))
    return Seen(source, whole._replace(findings=tuple(findings)), whole)


def _name(finding: Finding) -> tuple[str, str, str, int]:
    return finding.path, finding.code, finding.message, finding.span.start


class _Move:
    """Where the places of a text are after an edit."""

    def __init__(self, old: Source, new: Source) -> None:
        before, after = old.raw.splitlines(keepends=True), new.raw.splitlines(keepends=True)
        head, tail = common_lines(before, after)
        self._head, self._tail = head, len(before) - tail
        self._lines = len(after) - len(before)
        self._old, self._new = old, new

    def finding(self, finding: Finding) -> Finding | None:
        """A finding of the old text in the new one; None where it stands in what was edited."""
        story = [self._step(step) for step in finding.story]
        span = finding.span if finding.path else self._span(finding.span)
        if span is None or None in story:
            return None
        return finding._replace(span=span, story=tuple(filter(None, story)), fix=None, alternatives=())

    def _step(self, step: StoryStep) -> StoryStep | None:
        line = step.line if step.path else self._line(step.line)
        return None if line is None else step._replace(line=line)

    def _line(self, line: int) -> int | None:
        if line <= self._head:
            return line
        return line + self._lines if line > self._tail else None

    def _span(self, span: Span) -> Span | None:
        first, last = (self._old.position(offset).line for offset in (span.start, span.end))
        if last <= self._head:
            return span
        shift = len(self._new.raw) - len(self._old.raw)
        return Span(span.start + shift, span.end + shift) if first > self._tail else None
