"""Edits in the source of a code cell, put into its JSON: strings that no edit touches stay as they stand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from autodetach.notebooks.code_cells import CodeCell, Literal, places_in
from autodetach.places import Part


@dataclass(frozen=True, slots=True)
class Splice:
    """Characters `start:end` of a cell become `new`."""

    start: int
    end: int
    new: str


def splices_of(part: Part) -> list[Splice]:
    """The edits of a cell, in characters of its text."""
    raw = part.source.raw
    return [
        Splice(len(raw[:start].decode()), len(raw[:end].decode()), new.decode())
        for start, end, new in part.source.splices(part.edits)
    ]


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A piece of a source: as it is in JSON without quotes, and as text. `whole`: a string of the file as it stands."""

    origin: int
    json: str
    text: str
    new: bool = False
    whole: bool = False


class Rewriting:
    """Puts edits into the JSON of one cell's source, in the `text` of a notebook with these `cells`."""

    def __init__(self, text: str, cell: CodeCell, cells: Sequence[CodeCell]) -> None:
        self._text = text
        self._cell = cell
        self._cells = cells
        self._ascii = text.isascii()

    def source(self, splices: Sequence[Splice]) -> str:
        """The JSON of the edited source."""
        chunks = list(self._chunks(splices))
        if not self._cell.is_list:
            return '"' + "".join(chunk.json for chunk in chunks) + '"'
        opening, comma, closing = self._style()
        groups = [group for group in _strings(chunks) if group[0].whole or any(chunk.json for chunk in group)]
        if not groups:
            return "[]"
        literals = self._cell.literals
        pieces = [opening]
        for number, group in enumerate(groups):
            if number:
                before, origin = groups[number - 1][0].origin, group[0].origin
                between = self._text[literals[origin - 1].end : literals[origin].start] if origin > before else comma
                pieces.append(between)
            pieces.append('"' + "".join(chunk.json for chunk in group) + '"')
        return "[" + "".join((*pieces, closing)) + "]"

    def _chunks(self, splices: Sequence[Splice]) -> Iterator[_Chunk]:
        """What the strings of the cell become, in order."""
        pending = list(splices)
        begin = 0
        skip_to = 0
        origin = 0
        for origin, literal in enumerate(self._cell.literals):
            end = begin + len(literal.value)
            at = max(begin, min(skip_to, end))
            untouched = at == begin
            while pending and pending[0].start < end:
                splice = pending.pop(0)
                if splice.start > at:
                    yield self._old(origin, literal, at - begin, splice.start - begin)
                # Text put between two strings belongs to none of them.
                yield self._new(max(0, origin - (splice.start == begin)), splice.new)
                skip_to = splice.end
                untouched = untouched and splice.end == splice.start == begin
                at = min(skip_to, end)
            if untouched and at == begin:
                yield _Chunk(origin, self._inner(literal), literal.value, whole=True)
            elif at < end:
                yield self._old(origin, literal, at - begin, end - begin)
            begin = end
        for splice in pending:
            yield self._new(origin, splice.new)

    def _old(self, origin: int, literal: Literal, start: int, end: int) -> _Chunk:
        inner = self._inner(literal)
        places = places_in(inner)
        return _Chunk(origin, inner[places[start] : places[end]], literal.value[start:end])

    def _new(self, origin: int, text: str) -> _Chunk:
        return _Chunk(origin, json.dumps(text, ensure_ascii=self._ascii)[1:-1], text, new=True)

    def _inner(self, literal: Literal) -> str:
        return self._text[literal.start + 1 : literal.end - 1]

    def _style(self) -> tuple[str, str, str]:
        """What stands in front of the first string, between two, and behind the last one: here, or in other cells."""
        lists = [cell for cell in (self._cell, *self._cells) if cell.is_list and cell.literals]
        if not lists:
            return "", ", ", ""
        first = lists[0]
        opening = self._text[first.start + 1 : first.literals[0].start]
        closing = self._text[first.literals[-1].end : first.end - 1]
        several = next((cell for cell in lists if len(cell.literals) > 1), None)
        if several is not None:
            return opening, self._text[several.literals[0].end : several.literals[1].start], closing
        return opening, f",{opening}" if opening else ", ", closing


def _strings(chunks: Iterable[_Chunk]) -> Iterator[list[_Chunk]]:
    """The chunks of each string: a line of new text gets a string of its own, and old strings stay apart."""
    group: list[_Chunk] = []
    ended = False
    for chunk in chunks:
        for piece in _lines(chunk) if chunk.new else (chunk,):
            both_old = bool(group) and not piece.new and not group[-1].new
            if both_old or (ended and piece.text):
                yield group
                group = []
                ended = False
            group.append(piece)
            ended = piece.text.endswith("\n") if piece.text else ended
    if group:
        yield group


def _lines(chunk: _Chunk) -> Iterator[_Chunk]:
    # In JSON a line feed is always an escape, and a backslash before it always one of a pair.
    ends = [match.end() for match in re.finditer(r"\\(?:(n)|.)", chunk.json) if match[1]]
    text = chunk.text.split("\n")
    for number, (start, end) in enumerate(zip([0, *ends], [*ends, len(chunk.json)], strict=True)):
        if start < end or not ends:
            line = text[number] + ("\n" if number < len(ends) else "")
            yield _Chunk(chunk.origin, chunk.json[start:end], line, new=True)
