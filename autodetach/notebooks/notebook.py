"""Notebooks (`.ipynb`, format 4): where in the file the lines of the code cells are, and how they are changed there.

Whatever is no edited line is copied: outputs, metadata, the order of keys, indentation, the way characters are escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from autodetach.decoding import SourceError
from autodetach.notebooks.cells import Cells
from autodetach.notebooks.code_cells import CodeCell, Literal, places_in
from autodetach.notebooks.rewriting import Rewriting, splices_of
from autodetach.places import Part
from autodetach.source import Edit

FORMAT = 4
RAISES = "raises-exception"
"""The tag by which Jupyter knows that a cell is there to fail."""

_BLANK = re.compile(r"[ \t\n\r]*")


class OtherLanguage(SourceError):
    """A notebook whose cells are in another language than Python."""

    skipped = True


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
            at = literal.start + 1 + places_in(inner)[min(character, len(literal.value))]
            character -= len(literal.value)
            if character < 0:
                break
        return len(text[:at].encode())

    def _rewritten(self, text: str, parts: Iterable[Part]) -> Iterator[tuple[CodeCell, str]]:
        for part in sorted(parts, key=lambda part: part.index):
            cell = self.cells[part.index]
            yield cell, Rewriting(text, cell, self.cells).source(splices_of(part))


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


def _common(old: str, new: str) -> tuple[int, int]:
    """How many characters two texts share at their start and at their end; no newline is cut in two."""
    limit = min(len(old), len(new))
    head = next((i for i in range(limit) if old[i] != new[i]), limit)
    head -= old[:head].endswith("\r")
    limit -= head
    tail = next((i for i in range(limit) if old[-1 - i] != new[-1 - i]), limit)
    tail -= bool(tail) and old[len(old) - tail] == "\n"
    return head, tail
