"""A finding as a person reads it: the place, the story, what was assumed, and the fix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autodetach.console import printable
from autodetach.finding import Applicability, Finding, Fix, Severity, StoryStep
from autodetach.report import Located
from autodetach.report.change import ChangedLines, changed_lines
from autodetach.report.excerpt import ELLIPSIS, display, excerpt
from autodetach.report.wrap import BOLD, CYAN, DIM, GREEN, RED, YELLOW, Style
from autodetach.source import Source, Span

MAX_CHANGED_LINES = 12
INDENT = 6
DOTS = 2 * len(ELLIPSIS)
"""Columns for what stands where a line of source is cut, at its beginning and its end."""


def repair(fix: Fix) -> str:
    """A fix in a clause, without its edits."""
    return f"{fix.applicability.value} fix: {printable(fix.message)}{_reason(fix)}"


def place_of(step: StoryStep, located: Located) -> str:
    """Where a step of the story is, as people read it in the file of the finding."""
    source = located.source_of(step.path)
    at = source.place_of_line(step.line)
    line = step.line if at.cell is None else at.line
    if located.is_elsewhere(step.path):
        return f"{printable(source.path)}{at.in_cell}:{line}"
    return f"line {line}" if at.cell is None else f"cell {at.cell}, line {line}"


class Paragraph:
    """The lines about one finding; `width` is that of the terminal, None where there is none.

    Without `changes`, a fix is told, and what it changes is left out.
    """

    def __init__(
        self, located: Located, *, colour: bool = False, width: int | None = None, changes: bool = True
    ) -> None:
        self._located = located
        self._finding: Finding = located.finding
        self._source: Source = located.source
        self._style = Style(colour, width)
        self._changes = changes

    def lines(self, *, with_path: bool = True) -> Iterator[str]:
        """All lines, without newlines."""
        yield from self._head(with_path)
        yield from self.details()

    def details(self) -> Iterator[str]:
        """What follows the place: story, assumptions, observations and fixes."""
        yield from self._story()
        for assumption in self._finding.assumptions:
            yield from self._style.prose(f"   assumed: {printable(assumption)}", INDENT)
        for observation in self._finding.observed:
            yield from self._style.prose(f"   observed in the run: {printable(observation)}", INDENT)
        if self._finding.fix is not None:
            yield from self._fix(self._finding.fix)
        for fix in self._finding.alternatives:
            yield from self._style.prose(f"   or {self._safety(fix)}: {printable(fix.message)}{_reason(fix)}", INDENT)

    def headline(self) -> str:
        """The first line alone, however long, and whether there is a repair."""
        fix = self._finding.fix
        ending = "" if fix is None else " (fixable)" if fix.applicability is Applicability.SAFE else " (unsafe fix)"
        return self._title(with_path=True) + ending

    def _title(self, *, with_path: bool) -> str:
        finding = self._finding
        start = self._source.place(finding.span.start)
        accent = RED if finding.severity is Severity.ERROR else YELLOW
        name = f"{printable(self._located.shown)}{start.in_cell}" if with_path else start.in_cell.removeprefix(":")
        place = self._style.paint(f"{name}:{start.line}:{start.column + 1}".removeprefix(":"), BOLD)
        code = self._style.paint(f"{finding.code} {finding.name}", accent)
        return f"{place}: {code}: {printable(finding.message)}"

    def _head(self, with_path: bool) -> Iterator[str]:
        finding = self._finding
        start, end = self._source.place(finding.span.start), self._source.place(finding.span.end)
        number = str(start.line)
        span = Span(start.offset, max(start.offset, end.offset))
        part = excerpt(start.source, span, self._style.columns(len(number) + 3 + DOTS))
        accent = RED if finding.severity is Severity.ERROR else YELLOW
        yield from self._style.prose(self._title(with_path=with_path), indent=4)
        gutter = " " * len(number)
        bar = self._style.paint("|", DIM)
        mark = self._style.paint("^" * part.mark_length, accent)
        yield f"{gutter} {bar}"
        yield f"{self._style.paint(number, DIM)} {bar} {part.text}".rstrip()
        yield f"{gutter} {bar} {' ' * part.mark_start}{mark}"

    def _story(self) -> Iterator[str]:
        steps = self._finding.story
        digits = len(str(len(steps)))
        for number, step in enumerate(steps, 1):
            place = place_of(step, self._located)
            yield from self._style.prose(f"   {number:{digits}}. {place}: {printable(step.text)}", indent=digits + 5)

    def _fix(self, fix: Fix) -> Iterator[str]:
        yield from self._style.prose(f"   {self._safety(fix)} fix: {printable(fix.message)}{_reason(fix)}", INDENT)
        if not self._changes:
            return
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
        signed = [("-", text, RED) for text in changed.old] + [("+", text, GREEN) for text in changed.new]
        for index, (sign, text, colour) in enumerate(signed):
            number = str(changed.line) if index == 0 else ""
            shown = display(text, self._style.columns(gutter + 8 + DOTS))
            yield f"     {number:>{gutter}} " + self._style.paint(f"{sign} {shown}".rstrip(), colour)

    def _safety(self, fix: Fix) -> str:
        return self._style.paint(fix.applicability.value, CYAN)


def plain_details(located: Located) -> Sequence[str]:
    """Story, assumptions and fixes as lines without any style."""
    return tuple(Paragraph(located).details())


def _reason(fix: Fix) -> str:
    if fix.applicability is Applicability.SAFE or not fix.why_unsafe:
        return " (safe by what was observed in the run)" if fix.observed else ""
    return f" (why unsafe: {printable(fix.why_unsafe)})"
