"""The cells of a notebook as one program.

Cells run in order in one namespace, so their texts are joined to one source: in it a fault between cells is a fault
like any other. Lines of the joined text map back to lines of cells, edits of it to edits of single cells. An edit that
would touch a magic, or reach from one cell into the next, is a ValueError: no repair rather than a broken notebook.
"""

from __future__ import annotations

import ast
import codecs
import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from autodetach.decoding import SourceError
from autodetach.notebooks.broken import Bound, BrokenCell, bound, read_later, standing_in
from autodetach.notebooks.magics import NEWLINE, Line, PythonCell, as_python, indented, split_lines
from autodetach.old_names import parsed
from autodetach.places import Part, Place
from autodetach.source import Edit, Source
from autodetach.syntax import described

_BOM = codecs.BOM_UTF8.decode()


class CellError(SourceError):
    """A cell that is no Python: `source` is its text with the magics as Python, in which `line` counts."""

    def __init__(self, message: str, line: int | None, cell: int, source: Source | None = None) -> None:
        super().__init__(message, line)
        self.cell: int = cell
        self.source = source


class File(Protocol):
    """Where cells are kept: its bytes, and what becomes of them when cells are edited."""

    @property
    def raw(self) -> bytes: ...

    def with_edits(self, parts: Iterable[Part]) -> bytes: ...

    def edited(self, parts: Iterable[Part]) -> File: ...

    def edits(self, parts: Iterable[Part]) -> tuple[Edit, ...]: ...

    def offset(self, index: int, character: int) -> int: ...


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of the joined text: line `line`, from 0, of a cell (an index), or one that only the joined text has."""

    cell: int
    line: int
    python: Line | None


class Cells(Source):
    """The source that the texts of code cells are together. All of `Source` counts in the joined text."""

    is_joined = True

    __slots__ = ("_cell_sources", "_file", "_made_of", "_rows", "broken", "expected", "numbers", "texts")

    def __init__(
        self,
        path: str,
        texts: Sequence[str],
        cells: Sequence[PythonCell],
        numbers: Sequence[int],
        expected: Collection[int],
        file: File | None,
        broken: Sequence[BrokenCell],
    ) -> None:
        """Take parts that belong together; use `of` to get them."""
        self.texts = tuple(texts)
        self.numbers = tuple(numbers)
        self.expected = frozenset(expected)
        self.broken = tuple(broken)
        self._file = file
        self._made_of: tuple[Cells, tuple[Edit, ...]] | None = None
        self._cell_sources: dict[int, Source] = {}
        self._rows: list[_Row] = []
        joined: list[str] = []
        for index, cell in enumerate(cells):
            last = len(cell.lines) - 1
            self._rows += (_Row(index, 0, None) for _ in cell.above)
            self._rows += (_Row(index, number, line) for number, line in enumerate(cell.lines))
            # The empty line tells what comes last in one cell from what comes first in the next.
            self._rows += (_Row(index, last, None) for _ in (*cell.below, ""))
            joined += (*cell.above, *(line.text for line in cell.lines), *cell.below, "")
        text = "".join(f"{line}\n" for line in joined)
        super().__init__(path, text.encode(), text, "utf-8", "\n")

    @classmethod
    def of(
        cls,
        texts: Sequence[str],
        path: str,
        numbers: Sequence[int] | None = None,
        expected: Collection[int] = (),
        file: File | None = None,
    ) -> Cells:
        """Join the texts of code cells. `file`, if there is one, is where they are kept.

        `numbers` are those by which people know the cells: from 1, and counting all cells of a notebook. `expected` has
        those of the cells that are there to raise an exception. A cell that is no Python is one of the `broken`; raises
        CellError if most are, and for one whose text is none.
        """
        numbers = range(1, len(texts) + 1) if numbers is None else numbers
        read = [_read(text, number) for text, number in zip(texts, numbers, strict=True)]
        broken = [cell for cell in read if isinstance(cell, BrokenCell)]
        if 2 * len(broken) > sum(bool(text.strip()) for text in texts):
            number, message, line, source = broken[0]
            raise CellError(message, line, number, source)
        cells = _together(read, texts) if broken else [one[0] for one in read if not isinstance(one, BrokenCell)]
        cells = [_expecting(cell) if n in expected else cell for cell, n in zip(cells, numbers, strict=True)]
        return cls(path, texts, cells, numbers, expected, file, broken)

    def cell_source(self, index: int) -> Source:
        """The text of a cell alone, by its index."""
        if index not in self._cell_sources:
            self._cell_sources[index] = _source(self.texts[index], self.path)
        return self._cell_sources[index]

    def place(self, offset: int) -> Place:
        """See `Source.place`."""
        position = self.position(offset)
        row = self._rows[min(position.line, len(self._rows)) - 1]
        cell = self.cell_source(row.cell)
        line = cell.line_text(row.line + 1)
        column = position.character if row.python is not None and position.line <= len(self._rows) else len(line)
        if row.python is not None and column >= row.python.at:
            column += row.python.shift
        column = min(max(column, 0), len(line))
        at = cell.line_span(row.line + 1).start + len(line[:column].encode())
        return Place(cell, at, row.line + 1, column, self.numbers[row.cell], row.cell)

    def parts(self, edits: Iterable[Edit]) -> tuple[Part, ...]:
        """See `Source.parts`: one for each cell that is edited."""
        found: dict[int, list[Edit]] = {}
        for start, end, new in self.splices(edits):
            first, last = self._row_at(start), self._row_at(end)
            cell = self.cell_source(first.cell)
            edit = Edit(self._in_cell(cell, start, first), self._in_cell(cell, end, last), new.decode())
            found.setdefault(first.cell, []).append(edit)
        return tuple(
            Part(self.cell_source(index), tuple(inner), self.numbers[index], index) for index, inner in found.items()
        )

    def splices(self, edits: Iterable[Edit]) -> list[tuple[int, int, bytes]]:
        """See `Source.splices`. Raises ValueError also for an edit that does not stay in the Python of one cell."""
        found: list[_Splice] = []
        for splice in super().splices(edits):
            # What goes at the end of a cell may take the newline before it, which so far is the edit's before it.
            while found and found[-1][1] == splice[0] and self._is_border(splice[1]):
                start, _, new = found.pop()
                splice = (start, splice[1], new + splice[2])
            found.append(splice)
        return [self._inside(splice) for splice in found]

    def with_edits(self, edits: Iterable[Edit]) -> Cells:
        """See `Source.with_edits`. Raises ValueError also where a cell would be no Python any more."""
        edits = tuple(edits)
        texts = list(self.texts)
        for part in self.parts(edits):
            texts[part.index] = part.source.apply(part.edits).decode()
        try:
            edited = Cells.of(texts, self.path, self.numbers, self.expected)
        except CellError as error:
            raise ValueError(f"{self.path}: cell {error.cell} would be no Python") from error
        if edited.raw != self.apply(edits):
            raise ValueError(f"{self.path}: the edits change what is around them")
        edited._made_of = (self, edits)
        return edited

    @property
    def file(self) -> Source:
        """See `Source.file`; without a file, the joined text."""
        kept = self._kept_in()
        return self if kept is None else _source(kept.raw.decode("utf-8-sig"), self.path, kept.raw)

    def offset_in_file(self, offset: int) -> int:
        """See `Source.offset_in_file`."""
        kept, place = self._kept_in(), self.place(offset)
        if kept is None:
            return offset
        return kept.offset(place.index, len(place.source.raw[: place.offset].decode()))

    def edits_in_file(self, edits: Iterable[Edit]) -> tuple[Edit, ...]:
        """See `Source.edits_in_file`."""
        kept = self._kept_in()
        return tuple(edits) if kept is None else kept.edits(self.parts(edits))

    @property
    def stored(self) -> bytes:
        """See `Source.stored`."""
        return self.file.raw

    def stored_with(self, edits: Iterable[Edit]) -> bytes:
        """See `Source.stored_with`."""
        kept = self._kept_in()
        return self.apply(edits) if kept is None else kept.with_edits(self.parts(edits))

    def _kept_in(self) -> File | None:
        if self._file is None and self._made_of is not None:
            # Not before: most edited programs are only run, and thrown away.
            before, edits = self._made_of
            file = before._kept_in()
            self._file = None if file is None else file.edited(before.parts(edits))
            self._made_of = None
        return self._file

    def _row_at(self, offset: int) -> _Row:
        return self._rows[self.position(offset).line - 1]

    def _in_cell(self, cell: Source, offset: int, row: _Row) -> int:
        """The byte offset in the cell of one in a line of it, of which a magic has no inside."""
        assert row.python is not None
        byte = self.position(offset).byte
        if not row.python.kept and (byte or not row.python.before):
            byte = len(cell.line_text(row.line + 1).encode())
        return cell.line_span(row.line + 1).start + byte

    def _is_border(self, offset: int) -> bool:
        """Whether an offset is where a cell, with the newline behind it, has ended."""
        position = self.position(offset)
        number = position.line - 1
        if position.byte or not 0 < number < len(self._rows):
            return False
        return self._rows[number].python is None and self._rows[number - 1].python is not None

    def _inside(self, splice: _Splice) -> _Splice:
        """The same change without the newline between cells. Raises ValueError."""
        start, end, new = splice
        if self._is_border(end):
            # That newline is no cell's: a line that comes last has the one before it.
            if start == end:
                if not new.endswith(b"\n"):
                    raise self._refused(splice)
                return self._inside((end - 1, end - 1, b"\n" + new[:-1]))
            if new.endswith(b"\n"):
                return self._inside((start, end - 1, new[:-1]))
            place = self.position(start)
            if new or place.byte:
                raise self._refused(splice)
            above = self._rows[place.line - 2] if place.line > 1 else None
            if above is not None and above.python is not None and above.python.behind:
                return self._inside((start - 1, end - 1, b""))
            return self._inside((start, end - 1, b""))
        if not self._is_allowed(start, end, new):
            raise self._refused(splice)
        return splice

    def _is_allowed(self, start: int, end: int, new: bytes) -> bool:
        first, last = self.position(start), self.position(end)
        rows = self._rows[first.line - 1 : last.line]
        if not rows or last.line > len(self._rows) or any(row.cell != rows[0].cell for row in rows):
            return False
        lines = [row.python for row in rows]
        whole_lines = not last.byte and (not new or new.endswith(b"\n"))
        head, tail = lines[0], lines[-1]
        if head is None or tail is None:
            return False
        if start == end:
            behind = new.startswith(b"\n") and first.byte == len(head.text.encode()) and head.behind
            return head.kept or behind or (whole_lines and not first.byte and head.before)
        # What ends at the start of a line has not touched it; what begins at the end of one, neither.
        if whole_lines and not first.byte and tail.before:
            lines.pop()
        elif first.byte == len(head.text.encode()) and head.behind and self._starts_a_line(end, new):
            lines.pop(0)
        return all(line is not None and line.kept for line in lines)

    def _starts_a_line(self, end: int, new: bytes) -> bool:
        """Whether a newline comes first in what is put in front of `end`, or, if that is nothing, behind it."""
        return new.startswith(b"\n") if new else self.raw.startswith(b"\n", end)

    def _refused(self, splice: _Splice) -> ValueError:
        return ValueError(f"{self.path}: {splice} is not inside the Python of one cell")


_Splice = tuple[int, int, bytes]


def _source(text: str, path: str, raw: bytes | None = None) -> Source:
    # Not `from_bytes`: what a cell declares about an encoding means nothing.
    newline = NEWLINE.search(text)
    return Source(path, text.encode() if raw is None else raw, text, "utf-8", newline[0] if newline else "\n")


def _read(text: str, number: int) -> tuple[PythonCell, ast.Module] | BrokenCell:
    """The cell as Python, with its tree. Raises CellError for one that is no text of a program at all."""
    cell = as_python(text)
    try:
        text.encode()
        if text.startswith(_BOM):
            raise CellError("the cell begins with a byte order mark", 1, number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return cell, parsed("\n".join((*cell.above, *(line.text for line in cell.lines), *cell.below)))
    except UnicodeEncodeError as error:
        line = len(split_lines(text[: error.start]))
        raise CellError("half of a surrogate pair stands in the cell", line, number) from None
    except SyntaxError as error:
        line = min(error.lineno or 1, len(cell.lines))
        shown = cell.lines[line - 1].text if cell.lines else ""
        return BrokenCell(number, described(error, shown), line, _source(cell.text, ""))
    except (ValueError, RecursionError, MemoryError) as error:
        raise CellError(f"cannot be parsed: {error}", None, number) from error


def _together(read: Sequence[tuple[PythonCell, ast.Module] | BrokenCell], texts: Sequence[str]) -> list[PythonCell]:
    """All cells as Python, where some are broken."""
    all_bound = [Bound() if isinstance(one, BrokenCell) else bound(one[1]) for one in read]
    cells = [
        standing_in(texts[at], all_bound[:at], all_bound) if isinstance(one, BrokenCell) else one[0]
        for at, one in enumerate(read)
    ]
    later = read_later((texts[at] for at, one in enumerate(read) if isinstance(one, BrokenCell)), all_bound)
    if later:
        cells[-1] = replace(cells[-1], below=(*cells[-1].below, later))
    return cells


def _expecting(cell: PythonCell) -> PythonCell:
    """A cell that is there to raise an exception, which does not end the program."""
    inner = indented(cell)
    return PythonCell(inner.lines, ("try:", *inner.above), (*inner.below, "except Exception:", " pass"))
