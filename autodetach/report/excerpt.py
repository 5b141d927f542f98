"""A line of source as a terminal shows it, with a mark below a part of it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from autodetach.console import printable
from autodetach.source import Source, Span

TAB = 4
MAX_COLUMNS = 150
ELLIPSIS = "..."


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A line of the source (`number` from 1) and, in columns of a terminal from 0, where it is to be marked."""

    number: int
    text: str
    mark_start: int
    mark_length: int


def excerpt(source: Source, span: Span, columns: int = MAX_COLUMNS) -> Excerpt:
    """The line where the span begins; a span that goes on is marked to the end of the line, an empty one once.

    Of a longer line, `columns` of it are shown and dots where it is cut.
    """
    start, end = source.position(span.start), source.position(span.end)
    line = source.line_text(start.line)
    last = end.character if end.line == start.line else len(line.rstrip())
    cells = _cells(line)
    mark_start = sum(width for _, width in cells[: start.character])
    mark_end = max(mark_start + 1, sum(width for _, width in cells[:last]))
    skipped = _columns_to_skip(cells, mark_start, columns)
    text = _window(cells, skipped, columns)
    if skipped:
        mark_start, mark_end = (column - skipped + len(ELLIPSIS) for column in (mark_start, mark_end))
    mark_end = min(mark_end, max(display_width(text), mark_start + 1))
    return Excerpt(start.line, text, mark_start, mark_end - mark_start)


def display(line: str, columns: int = MAX_COLUMNS) -> str:
    """A line of source with its tabs as blanks and what a terminal would obey as escapes, cut where it is too long."""
    return _window(_cells(line), 0, columns)


def display_width(text: str) -> int:
    """How many columns of a terminal a printable text takes."""
    return len(text) if text.isascii() else sum(map(_character_width, text))


def _cells(line: str) -> list[tuple[str, int]]:
    """What is shown for each character, and its width."""
    cells: list[tuple[str, int]] = []
    column = 0
    for character in line:
        shown = " " * (TAB - column % TAB) if character == "\t" else printable(character)
        cells.append((shown, display_width(shown)))
        column += cells[-1][1]
    return cells


def _columns_to_skip(cells: list[tuple[str, int]], mark_start: int, columns: int) -> int:
    """Of a line too long to show, the part in front that is left out so that the mark is seen; whole cells only."""
    if sum(width for _, width in cells) <= columns or mark_start <= columns // 2:
        return 0
    skipped = 0
    for _, width in cells:
        if skipped + width > mark_start - columns // 4:
            break
        skipped += width
    return skipped


def _window(cells: Iterable[tuple[str, int]], skipped: int, columns: int) -> str:
    shown: list[str] = []
    column = 0
    for text, width in cells:
        column += width
        if column > skipped + columns:
            shown.append(ELLIPSIS)
            break
        if column > skipped:
            shown.append(text)
    return (ELLIPSIS if skipped else "") + "".join(shown).rstrip()


def _character_width(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
