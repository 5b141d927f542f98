"""Notebooks (`.ipynb`, format 4): where in the file the lines of the code cells are, and how they are changed there.

Whatever is no edited line is copied: outputs, metadata, the order of keys, indentation, the way characters are escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autodetach.decoding import SourceError
from autodetach.notebooks.cells import Cells
from autodetach.places import Part
from autodetach.source import Edit

FORMAT = 4
RAISES = "raises-exception"
"""The tag by which Jupyter knows that a cell is there to fail."""

_BLANK = re.compile(r"[ \t\n\r]*")
_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|[^\\]", re.DOTALL)


class OtherLanguage(SourceError):
    """A notebook whose cells are in another language than Python."""

    skipped = True


@dataclass(frozen=True, slots=True)
class Literal:
    """A JSON string: `start` and `end` are where its quotes begin and end in the text of the file."""

    start: int
    end: int
    value: str


@dataclass(frozen=True, slots=True)
class CodeCell:
    """A code cell: its number among all cells, from 1, and its source, one string or (`is_list`) several.

    `start` and `end` are where the JSON of the source begins and ends.
    """

    number: int
    start: int
    end: int
    literals: tuple[Literal, ...]
    is_list: bool
    raises: bool

    @property
    def text(self) -> str:
        return "".join(literal.value for literal in self.literals)


@dataclass(frozen=True, slots=True)
class Notebook:
    """The bytes of a notebook and its Python cells."""

    raw: bytes
    cells: tuple[CodeCell, ...]

    def with_edits(self, parts: Iterable[Part]) -> bytes:
        """The bytes of the notebook with edits in its cells, which count in the texts of the cells."""
        text = self.raw.decode()
        pieces: list[str] = []
        copied = 0
        for cell, source in self._rewritten(text, parts):
            pieces += (text[copied : cell.start], source)
            copied = cell.end
        return "".join((*pieces, text[copied:])).encode()

    def edited(self, parts: Iterable[Part]) -> Notebook:
        """The notebook with edits in its cells."""
        return scan(self.with_edits(parts))

    def edits(self, parts: Iterable[Part]) -> tuple[Edit, ...]:
        """Edits in cells as edits of the file."""
        text = self.raw.decode()
        found = []
        for cell, source in self._rewritten(text, parts):
            old = text[cell.start : cell.end]
            head, tail = _common(old, source)
            start = len(text[: cell.start + head].encode())
            end = start + len(old[head : len(old) - tail].encode())
            found.append(Edit(start, end, source[head : len(source) - tail]))
        return tuple(found)

    def offset(self, index: int, character: int) -> int:
        """Where a character of a cell is in the file: its byte offset."""
        cell, text = self.cells[index], self.raw.decode()
        at = cell.start + 1
        for literal in cell.literals:
            inner = text[literal.start + 1 : literal.end - 1]
            at = literal.start + 1 + _places(inner)[min(character, len(literal.value))]
            character -= len(literal.value)
            if character < 0:
                break
        return len(text[:at].encode())

    def _rewritten(self, text: str, parts: Iterable[Part]) -> Iterator[tuple[CodeCell, str]]:
        for part in sorted(parts, key=lambda part: part.index):
            cell = self.cells[part.index]
            yield cell, _Rewriting(self, text, cell).source(_splices(part))


def read(raw: bytes, path: str) -> Cells:
    """The Python cells of a notebook, as one source.

    Raises SourceError: no notebook, another format, OtherLanguage, and CellError for a cell that is no Python.
    """
    notebook = scan(raw)
    texts = [cell.text for cell in notebook.cells]
    numbers = [cell.number for cell in notebook.cells]
    return Cells.of(texts, path, numbers, [cell.number for cell in notebook.cells if cell.raises], notebook)


def scan(raw: bytes) -> Notebook:
    """Find the Python cells of a notebook. Raises SourceError."""
    try:
        return Notebook(raw, _Scanner(raw.decode()).cells())
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SourceError("not a notebook: it is not valid UTF-8", line) from None
    except json.JSONDecodeError as error:
        message = f"not a notebook: it is not valid JSON ({error.msg.lower()})"
        raise SourceError(message, error.lineno) from None
    except RecursionError:
        raise SourceError("not a notebook: its JSON is nested too deeply") from None
    except ValueError as error:
        raise SourceError(f"not a notebook: {error}") from None


class _Scanner:
    """Reads JSON, and remembers where the sources of cells are. Raises ValueError for what is no notebook."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._decode: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().raw_decode

    def cells(self) -> tuple[CodeCell, ...]:
        found: dict[str, Any] = {}
        starts: dict[str, int] = {}

        def member(key: str, at: int) -> int:
            starts[key] = at
            found[key], end = self._decode(self._text, at)
            return end

        begin = self._blank(1 if self._text.startswith("\ufeff") else 0)
        if self._text[begin : begin + 1] != "{":
            self._decode(self._text, begin)
            raise ValueError("it has no cells")
        end = self._blank(self._object(begin, member))
        if end != len(self._text):
            raise json.JSONDecodeError("Extra data", self._text, end)
        version = found.get("nbformat")
        if isinstance(version, int) and version != FORMAT:
            raise SourceError(
                f"a notebook of format {version}, and only format {FORMAT} is read; "
                "`jupyter nbconvert --to notebook --nbformat 4` makes one"
            )
        if not isinstance(found.get("cells"), list):
            raise ValueError("it has no cells")
        if version is None:
            raise ValueError("it does not say its format (`nbformat`)")
        language = _language(found.get("metadata"))
        if language is not None and not language.lower().startswith(("python", "ipython")):
            raise OtherLanguage(f"skipped: its language is {language}, not Python")
        cells: list[CodeCell] = []
        number = 0

        def item(at: int) -> int:
            nonlocal number
            number += 1
            cell, end = self._cell(at, number)
            cells.extend(() if cell is None else (cell,))
            return end

        self._array(starts["cells"], item)
        return tuple(cells)

    def _cell(self, at: int, number: int) -> tuple[CodeCell | None, int]:
        if self._text[at : at + 1] != "{":
            raise ValueError(f"cell {number} is no object")
        found: dict[str, Any] = {}
        place: tuple[int, int, tuple[Literal, ...], bool] | None = None

        def member(key: str, at: int) -> int:
            nonlocal place
            value, end = self._decode(self._text, at)
            if key == "source":
                place = (at, end, *self._source(at, value))
            else:
                found[key] = value
            return end

        end = self._object(at, member)
        if not isinstance(found.get("cell_type"), str):
            raise ValueError(f"cell {number} has no type")
        if found["cell_type"] != "code":
            return None, end
        if place is None:
            raise ValueError(f"cell {number} has no source")
        metadata = found.get("metadata")
        if not _is_python(metadata):
            return None, end
        tags = metadata.get("tags") if isinstance(metadata, dict) else None
        return CodeCell(number, *place, isinstance(tags, list) and RAISES in tags), end

    def _source(self, at: int, value: object) -> tuple[tuple[Literal, ...], bool]:
        """The strings of a source, and whether they are a list."""
        if isinstance(value, str):
            return (Literal(at, self._decode(self._text, at)[1], value),), False
        if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
            raise ValueError("the source of a cell is neither a string nor a list of strings")
        found: list[Literal] = []

        def item(at: int) -> int:
            line, end = self._decode(self._text, at)
            found.append(Literal(at, end, line))
            return end

        self._array(at, item)
        return tuple(found), True

    def _object(self, at: int, member: Callable[[str, int], int]) -> int:
        """Call `member` with each key and the place of its value, which it gives back the end of."""

        def item(at: int) -> int:
            if self._text[at : at + 1] != '"':
                raise json.JSONDecodeError("Expecting property name enclosed in double quotes", self._text, at)
            key, end = self._decode(self._text, at)
            end = self._blank(end)
            if self._text[end : end + 1] != ":":
                raise json.JSONDecodeError("Expecting ':' delimiter", self._text, end)
            return member(key, self._blank(end + 1))

        return self._items(at, "}", item)

    def _array(self, at: int, item: Callable[[int], int]) -> int:
        return self._items(at, "]", item)

    def _items(self, at: int, closing: str, item: Callable[[int], int]) -> int:
        at = self._blank(at + 1)
        if self._text[at : at + 1] == closing:
            return at + 1
        while True:
            at = self._blank(item(at))
            if self._text[at : at + 1] == closing:
                return at + 1
            if self._text[at : at + 1] != ",":
                raise json.JSONDecodeError("Expecting ',' delimiter", self._text, at)
            at = self._blank(at + 1)

    def _blank(self, at: int) -> int:
        match = _BLANK.match(self._text, at)
        return at if match is None else match.end()


def _language(metadata: object) -> str | None:
    """The language of a notebook, or None where it does not say."""
    if not isinstance(metadata, dict):
        return None
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        inner = metadata.get(key)
        if isinstance(inner, dict) and isinstance(inner.get(name), str) and inner[name]:
            return str(inner[name])
    return None


def _is_python(metadata: object) -> bool:
    """Whether a code cell is not marked as another language, as VS Code does."""
    editor = metadata.get("vscode") if isinstance(metadata, dict) else None
    language = editor.get("languageId") if isinstance(editor, dict) else None
    return not isinstance(language, str) or language == "python"


@dataclass(frozen=True, slots=True)
class _Splice:
    """Characters `start:end` of a cell become `new`."""

    start: int
    end: int
    new: str


def _splices(part: Part) -> list[_Splice]:
    raw = part.source.raw
    return [
        _Splice(len(raw[:start].decode()), len(raw[:end].decode()), new.decode())
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


class _Rewriting:
    """Puts edits into the JSON of one cell's source."""

    def __init__(self, notebook: Notebook, text: str, cell: CodeCell) -> None:
        self._notebook = notebook
        self._text = text
        self._cell = cell
        self._ascii = notebook.raw.isascii()

    def source(self, splices: Sequence[_Splice]) -> str:
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

    def _chunks(self, splices: Sequence[_Splice]) -> Iterator[_Chunk]:
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
        places = _places(inner)
        return _Chunk(origin, inner[places[start] : places[end]], literal.value[start:end])

    def _new(self, origin: int, text: str) -> _Chunk:
        return _Chunk(origin, json.dumps(text, ensure_ascii=self._ascii)[1:-1], text, new=True)

    def _inner(self, literal: Literal) -> str:
        return self._text[literal.start + 1 : literal.end - 1]

    def _style(self) -> tuple[str, str, str]:
        """What stands in front of the first string, between two, and behind the last one: here, or in other cells."""
        lists = [cell for cell in (self._cell, *self._notebook.cells) if cell.is_list and cell.literals]
        if not lists:
            return "", ", ", ""
        first = lists[0]
        opening = self._text[first.start + 1 : first.literals[0].start]
        closing = self._text[first.literals[-1].end : first.end - 1]
        several = next((cell for cell in lists if len(cell.literals) > 1), None)
        if several is not None:
            return opening, self._text[several.literals[0].end : several.literals[1].start], closing
        return opening, f",{opening}" if opening else ", ", closing


def _places(inner: str) -> list[int]:
    """Where in a JSON string each of its characters begins, and the last one ends."""
    return [0, *(match.end() for match in _CHARACTER.finditer(inner))]


def _common(old: str, new: str) -> tuple[int, int]:
    """How many characters two texts share at their start and at their end; no newline is cut in two."""
    limit = min(len(old), len(new))
    head = next((i for i in range(limit) if old[i] != new[i]), limit)
    head -= old[:head].endswith("\r")
    limit -= head
    tail = next((i for i in range(limit) if old[-1 - i] != new[-1 - i]), limit)
    tail -= bool(tail) and old[len(old) - tail] == "\n"
    return head, tail


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
