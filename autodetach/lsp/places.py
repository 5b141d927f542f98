"""From places in a `Source` to places in an editor, and from edits to text edits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lsprotocol import types

from autodetach.lsp.documents import Documents
from autodetach.lsp.text import column_of
from autodetach.source import Edit, Source

_BOM = "\ufeff"


def position_of(source: Source, offset: int, encoding: str) -> types.Position:
    """The position of a byte offset."""
    place = source.position(offset)
    if encoding == "utf-16":
        column = place.utf16
    elif encoding == "utf-32":
        column = place.character
    elif source.encoding == "utf-8":
        column = place.byte
    else:
        column = column_of(source.line_text(place.line)[: place.character], encoding)
    if source.bom and place.line == 1:
        column += column_of(_BOM, encoding)
    return types.Position(place.line - 1, column)


def range_of(source: Source, start: int, end: int, encoding: str) -> types.Range:
    """The range of a byte span."""
    return types.Range(position_of(source, start, encoding), position_of(source, end, encoding))


def line_range(source: Source, line: int, encoding: str) -> types.Range:
    """The range of what is written in a line (from 1), without its indentation."""
    if not 1 <= line <= source.line_count:
        return range_of(source, len(source.raw), len(source.raw), encoding)
    text = source.line_text(line)
    begin = source.line_span(line).start
    first = begin + len(text[: len(text) - len(text.lstrip())].encode(source.encoding))
    last = begin + len(text.rstrip().encode(source.encoding))
    return range_of(source, min(first, last), last, encoding)


@dataclass(frozen=True, slots=True)
class Places:
    """Places of sources in what is open, cells of notebooks included, or in files."""

    documents: Documents

    def location(self, path: str, source: Source, start: int, end: int) -> types.Location:
        """Where a span of the source at `path` is. What would reach from one cell into another ends before it."""
        first, last = source.place(start), source.place(end)
        if first.index != last.index:
            last = first
        span = range_of(first.source, first.offset, max(first.offset, last.offset), self.documents.encoding)
        return types.Location(self._uri(path, first.index), span)

    def line(self, path: str, source: Source, line: int) -> types.Location:
        """Where a line (from 1) of the source at `path` is."""
        place = source.place_of_line(min(max(line, 1), max(source.line_count, 1)))
        return types.Location(
            self._uri(path, place.index), line_range(place.source, place.line, self.documents.encoding)
        )

    def edits(self, path: str, source: Source, edits: Iterable[Edit]) -> dict[str, list[types.TextEdit]]:
        """Edits as an editor applies them, by URI. Raises what `Source.splices` raises."""
        return {
            self._uri(path, part.index): [
                types.TextEdit(
                    range_of(part.source, start, end, self.documents.encoding), new.decode(part.source.encoding)
                )
                for start, end, new in part.source.splices(part.edits)
            ]
            for part in source.parts(edits)
        }

    def _uri(self, path: str, index: int) -> str:
        opened = self.documents.at(path)
        return self.documents.uri_at(path) if opened is None else opened.uri_of(index)


def overlap(first: types.Range, second: types.Range) -> bool:
    """Whether two ranges touch."""
    return _key(first.start) <= _key(second.end) and _key(second.start) <= _key(first.end)


def _key(position: types.Position) -> tuple[int, int]:
    return position.line, position.character
