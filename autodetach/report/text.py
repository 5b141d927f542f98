"""Findings as a person reads them: the place, the story, what was assumed, and the fix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autodetach.console import printable
from autodetach.finding import Applicability, Finding, Fix, Severity
from autodetach.report import Located
from autodetach.report.change import ChangedLines, changed_lines
from autodetach.report.excerpt import display, excerpt
from autodetach.source import Source, Span

MAX_CHANGED_LINES = 12

_RED, _YELLOW, _GREEN, _CYAN, _BOLD, _DIM = "31", "33", "32", "36", "1", "2"


def render(findings: Sequence[Located], *, colour: bool) -> str:
    """A paragraph for each finding, an empty line between them."""
    return "\n".join("".join(f"{line}\n" for line in _Paragraph(located, colour).lines()) for located in findings)


class _Paragraph:
    def __init__(self, located: Located, colour: bool) -> None:
        self._located = located
        self._finding: Finding = located.finding
        self._source: Source = located.source
        self._shown = located.shown
        self._colour = colour

    def lines(self) -> Iterator[str]:
        yield from self._head()
        yield from self._story()
        for assumption in self._finding.assumptions:
            yield f"   assumed: {printable(assumption)}"
        if self._finding.fix is not None:
            yield from self._fix(self._finding.fix)
        for fix in self._finding.alternatives:
            yield f"   or {self._safety(fix)}: {printable(fix.message)}{_reason(fix)}"

    def _head(self) -> Iterator[str]:
        finding = self._finding
        start, end = self._source.place(finding.span.start), self._source.place(finding.span.end)
        part = excerpt(start.source, Span(start.offset, max(start.offset, end.offset)))
        accent = _RED if finding.severity is Severity.ERROR else _YELLOW
        place = self._paint(f"{printable(self._shown)}{start.in_cell}:{start.line}:{start.column + 1}", _BOLD)
        code = self._paint(f"{finding.code} {finding.name}", accent)
        yield f"{place}: {code}: {printable(finding.message)}"
        gutter = " " * len(str(part.number))
        bar = self._paint("|", _DIM)
        mark = self._paint("^" * part.mark_length, accent)
        yield f"{gutter} {bar}"
        yield f"{self._paint(str(part.number), _DIM)} {bar} {part.text}".rstrip()
        yield f"{gutter} {bar} {' ' * part.mark_start}{mark}"

    def _story(self) -> Iterator[str]:
        steps = self._finding.story
        digits = len(str(len(steps)))
        for number, step in enumerate(steps, 1):
            source = self._located.source_of(step.path)
            at = source.place_of_line(step.line)
            line = step.line if at.cell is None else at.line
            place = f"line {line}" if at.cell is None else f"cell {at.cell}, line {line}"
            if self._located.is_elsewhere(step.path):
                place = f"{printable(source.path)}{at.in_cell}:{line}"
            yield f"   {number:{digits}}. {place}: {printable(step.text)}"

    def _fix(self, fix: Fix) -> Iterator[str]:
        yield f"   {self._safety(fix)} fix: {printable(fix.message)}{_reason(fix)}"
        here = self._source.place(self._finding.span.start).cell
        lines: list[str] = []
        for path, edits in ((self._finding.path, fix.edits), *fix.elsewhere):
            source = self._located.source_of(path)
            for part in source.parts(edits):
                if source is not self._source or part.cell != here:
                    lines.append(f"   in {printable(source.path)}{part.in_cell}:")
                lines += [line for changed in changed_lines(part.source, part.edits) for line in self._changed(changed)]
        yield from lines[:MAX_CHANGED_LINES]
        if len(lines) > MAX_CHANGED_LINES:
            yield f"        ... and {len(lines) - MAX_CHANGED_LINES} lines more"

    def _changed(self, changed: ChangedLines) -> Iterator[str]:
        gutter = len(str(self._source.line_count + 1))
        signed = [("-", text, _RED) for text in changed.old] + [("+", text, _GREEN) for text in changed.new]
        for index, (sign, text, colour) in enumerate(signed):
            number = str(changed.line) if index == 0 else ""
            yield f"     {number:>{gutter}} " + self._paint(f"{sign} {display(text)}".rstrip(), colour)

    def _safety(self, fix: Fix) -> str:
        return self._paint(fix.applicability.value, _CYAN)

    def _paint(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self._colour else text


def _reason(fix: Fix) -> str:
    if fix.applicability is Applicability.SAFE or not fix.why_unsafe:
        return ""
    return f" (why unsafe: {printable(fix.why_unsafe)})"
