"""What an analysis will probably show, told from its first path, or a part of that, while the others are run.

The other paths of a program, and the parts of it that an edit does not touch, mostly show what they have shown before.
So what the last analysis found beyond its own first path, or in other parts, is added, where it stands now, and what it
took back is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from autodetach.finding import Finding, StoryStep
from autodetach.incremental.reparse import common_lines
from autodetach.source import Source, Span
from autodetach.task import Outcome

_OWN_LINE = re.compile(r"(?<=\bline )\d+\b(?! of )")
"""The number of a line, as `Files.line_name` calls those of the file itself."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one analysis has shown: its first path by itself, and all of them, in `source`."""

    source: Source
    first: Outcome
    whole: Outcome


def foreseen(before: Seen, first: Outcome, source: Source) -> Outcome:
    """What all of an edited program will show, whose first path, or a part of it, shows this, without repairs."""
    move = _Move(before.source, source)
    own = {_name(finding) for finding in before.first.findings}
    whole = {_name(finding) for finding in before.whole.findings}
    places = ((f, move.finding(f)) for f in before.whole.findings)
    more = (now for f, now in places if now is not None and (_name(f) not in own or not _is_about(first, now, source)))
    taken_back = {_name(moved) for f in before.first.findings if _name(f) not in whole and (moved := move.finding(f))}
    findings = [f for f in first.findings if _name(f) not in taken_back]
    known = {_name(f) for f in findings}
    findings += (f for f in more if _name(f) not in known)
    findings.sort(key=lambda f: (f.path, f.span.start, f.code))
    problems = tuple(dict.fromkeys((*first.problems, *(p for p in before.whole.problems if p.partial))))
    sources = {**before.whole.sources, **first.sources}
    imported = first.imported if first.about is None else tuple({*before.whole.imported, *first.imported})
    return first._replace(
        findings=tuple(findings), problems=problems, source=source, sources=sources, imported=imported
    )


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


def _is_about(outcome: Outcome, finding: Finding, source: Source) -> bool:
    """Whether an outcome tells everything of where a finding is, in the text that it is about."""
    if outcome.about is None:
        return True
    line = source.position(finding.span.start).line
    return not finding.path and any(first <= line <= last for first, last in outcome.about)


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
        message = finding.message if finding.path else self._text(finding.message)
        return finding._replace(
            message=message, span=span, story=tuple(filter(None, story)), fix=None, alternatives=()
        )

    def _step(self, step: StoryStep) -> StoryStep | None:
        if step.path:
            return step
        line = self._line(step.line)
        return None if line is None else step._replace(line=line, text=self._text(step.text))

    def _text(self, text: str) -> str:
        """What is said of lines, of those that they are now."""
        return _OWN_LINE.sub(lambda said: str(self._line(int(said[0])) or said[0]), text)

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
