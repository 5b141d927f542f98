"""Bytes, text and positions of one source file, and the edits that are spliced into it.

Bytes are the truth: every offset is a byte offset into the raw file, every edit is a byte span, and whatever no edit
covers is copied. Nobody else counts columns: `ast` counts UTF-8 bytes, libcst characters, editors UTF-16 code units.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from autodetach.decoding import SourceError, declared_encoding, decoded, line_at, text_begins
from autodetach.named_tuples import NamedTuple

if TYPE_CHECKING:
    from autodetach.places import Part, Place

# Not compiled here: this module is imported for every clean file, and few files need it.
_LEADING_FORM_FEED = r"(?:\A|(?<=[\r\n]))[ \t\f]*\f"


# Small records that every start needs are named tuples: a dataclass takes five times as long to be made.
class Span(NamedTuple):
    """Byte offsets into the raw file, half open."""

    start: int
    end: int


class Edit(NamedTuple):
    """Replace the raw bytes `start:end` by `replacement`.

    The text is encoded as the source is. Its newlines are written as `\\n` and become the newline of the source.
    """

    start: int
    end: int
    replacement: str


class Position(NamedTuple):
    """A place in a line: `line` from 1; columns from 0 in characters, in UTF-16 code units, in bytes of the file."""

    line: int
    character: int
    utf16: int
    byte: int


Lines: TypeAlias = tuple[tuple[int, int], ...]
"""The first and last lines of some parts of a text, from 1."""


class Source:
    """One source file: its raw bytes, its text, and every kind of position in it.

    `text` is decoded, without byte order mark, with its newlines untouched; `newline` is the first newline of the file
    (a line feed where there is none). Lines count from 1 and end where CPython ends them: at LF, CR LF and a lone CR,
    not at form feeds or U+2028. A byte order mark belongs to no line. A file that ends in a newline, or is empty, has
    one empty line more, which `line_count` does not count, so that the end of every file is a position too.

    `is_joined` says of a class that it puts several texts together, between which blank lines are no part of any.
    Methods that take a position raise ValueError when there is no such position.
    """

    is_joined: ClassVar[bool] = False

    __slots__ = ("_begin", "_character_starts", "_one_byte", "_starts", "encoding", "newline", "path", "raw", "text")

    def __init__(self, path: str, raw: bytes, text: str, encoding: str, newline: str) -> None:
        """Take parts that belong together; use `from_bytes` to get them."""
        self.path = path
        self.raw = raw
        self.text = text
        self.encoding = encoding
        self.newline = newline
        self._begin = text_begins(raw)
        self._one_byte = len(text) == len(raw) - self._begin
        self._starts: list[int] | None = None
        self._character_starts: list[int] | None = None

    @classmethod
    def from_bytes(cls, raw: bytes, path: str) -> Source:
        """Decode a file as CPython would (byte order mark, PEP 263 cookie).

        Raises SourceError: undecodable bytes, unknown or unusable encodings, UTF-16 and UTF-32, NUL bytes.
        """
        text, encoding = decoded(raw)
        return cls(path, raw, text, encoding, _first_newline(raw))

    @classmethod
    def from_text(cls, text: str, path: str) -> Source:
        """The file that a text would be if it were saved: in the encoding that it declares.

        Raises SourceError as `from_bytes` does, and for text that the encoding has no bytes for.
        """
        try:
            # What declares the encoding is ASCII in every encoding that is not refused.
            raw = text.encode("utf-8", "surrogatepass")
            raw = text.encode(declared_encoding(raw))
        except UnicodeEncodeError as error:
            before = text[: error.start].encode("utf-8", "surrogatepass")
            line = line_at(before, len(before))
            raise SourceError(f"the encoding {error.encoding} has no {text[error.start]!a}", line) from None
        return cls.from_bytes(raw, path)

    @property
    def bom(self) -> bool:
        """Whether the file begins with a UTF-8 byte order mark."""
        return self._begin > 0

    @property
    def line_count(self) -> int:
        """How many lines there are; an empty file has none."""
        starts = self._line_starts()
        return len(starts) - (starts[-1] == len(self.raw))

    @property
    def cst_text(self) -> str:
        """The text to hand to libcst: `text` without the indentation up to a form feed.

        CPython forgets an indentation at a form feed. libcst forgets it in some lines and keeps it in others, which
        spoils its columns; without it they are right, and `offset_from_cst` adds what was left out.
        """
        return re.sub(_LEADING_FORM_FEED, "", self.text) if "\f" in self.text else self.text

    def line_span(self, line: int) -> Span:
        """The bytes of a line with its newline."""
        starts = self._line_starts()
        if not 1 <= line <= len(starts):
            raise ValueError(f"{self.path}: there is no line {line}")
        return Span(starts[line - 1], starts[line] if line < len(starts) else len(self.raw))

    def line_text(self, line: int) -> str:
        """The text of a line without its newline."""
        return self._line_bytes(line).decode(self.encoding)

    def indent_of(self, line: int) -> str:
        """The indentation of a line: its leading blanks and tabs, from behind the last form feed among them."""
        text = self.line_text(line)
        leading = text[: len(text) - len(text.lstrip(" \t\f"))]
        return leading.rpartition("\f")[2]

    def text_of(self, span: Span) -> str:
        """The text of a byte span."""
        if not 0 <= span.start <= span.end <= len(self.raw):
            raise ValueError(f"{self.path}: {span} lies outside the file")
        return self.raw[span.start : span.end].decode(self.encoding)

    def offset_from_ast(self, line: int, column: int) -> int:
        """The byte offset of a position of `ast`: line from 1, column in UTF-8 bytes of that line."""
        raw = self._line_bytes(line)
        if self.encoding == "utf-8":
            return self._start_of(line) + _checked(column, len(raw))
        text = raw.decode(self.encoding).encode()
        prefix = text[: _checked(column, len(text))].decode()
        return self._start_of(line) + len(prefix.encode(self.encoding))

    def offset_from_cst(self, line: int, column: int) -> int:
        """The byte offset of a position of libcst in `cst_text`: line from 1, column in characters.

        To libcst the last line always ends in a newline; where it does not, the line behind it is the end of the file.
        """
        if column == 0 and line == len(self._line_starts()) + 1:
            return len(self.raw)
        if b"\f" in self._line_bytes(line):
            leading = re.match(_LEADING_FORM_FEED, self.line_text(line))
            column += leading.end() if leading else 0
        return self._offset_in_line(line, column)

    def offset_from_character(self, index: int) -> int:
        """The byte offset of an index into `text`."""
        _checked(index, len(self.text))
        if self._one_byte:
            return self._begin + index
        if self._character_starts is None:
            lengths = map(len, io.StringIO(self.text, newline=""))
            self._character_starts = list(accumulate(lengths, initial=0))
        line = min(bisect_right(self._character_starts, index), len(self._line_starts()))
        prefix = self.text[self._character_starts[line - 1] : index]
        return self._start_of(line) + len(prefix.encode(self.encoding))

    def position(self, offset: int) -> Position:
        """The position of a byte offset; an offset inside the byte order mark is the start of line 1."""
        _checked(offset, len(self.raw))
        offset = max(offset, self._begin)
        line = bisect_right(self._line_starts(), offset)
        prefix = self.raw[self._start_of(line) : offset]
        if self._one_byte:
            return Position(line, len(prefix), len(prefix), len(prefix))
        text = prefix.decode(self.encoding)
        return Position(line, len(text), len(text.encode("utf-16-le", "surrogatepass")) // 2, len(prefix))

    def lines_of(self, span: Span) -> tuple[int, int]:
        """The first and the last line that a span touches, which may end, or begin, inside a character."""
        starts = self._line_starts()
        first, last = _checked(span.start, len(self.raw)), _checked(max(span.start, span.end - 1), len(self.raw))
        return max(1, bisect_right(starts, first)), max(1, bisect_right(starts, last))

    def place(self, offset: int) -> Place:
        """A byte offset as people name it."""
        from autodetach.places import Place

        position = self.position(offset)
        return Place(self, offset, position.line, position.character)

    def place_of_line(self, line: int) -> Place:
        """The start of a line as people name it; of one that is not there, the start of the nearest."""
        return self.place(self.line_span(min(max(line, 1), self.line_count or 1)).start)

    def parts(self, edits: Iterable[Edit]) -> tuple[Part, ...]:
        """The edits as people see them. Raises what `splices` raises."""
        from autodetach.places import Part

        return (Part(self, tuple(edits)),)

    @property
    def file(self) -> Source:
        """The file that this is kept in, as it is."""
        return self

    def offset_in_file(self, offset: int) -> int:
        """Where a byte is in `file`."""
        return offset

    def edits_in_file(self, edits: Iterable[Edit]) -> tuple[Edit, ...]:
        """What edits are in `file`. Raises what `splices` raises."""
        return tuple(edits)

    @property
    def stored(self) -> bytes:
        """The bytes of the file."""
        return self.raw

    def stored_with(self, edits: Iterable[Edit]) -> bytes:
        """The bytes of the file after the edits. Raises what `splices` raises."""
        return self.apply(edits)

    def splices(self, edits: Iterable[Edit]) -> list[tuple[int, int, bytes]]:
        """Edits as they go into the file: (start, end, new bytes), sorted; insertions at one place keep their order.

        Raises ValueError when edits overlap, lie outside the file or in its byte order mark, or cut a character or a
        `\\r\\n` in two, and SourceError when the encoding of the file has no bytes for a replacement.
        """
        splices = []
        end = self._begin
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            if edit.start < end or not edit.start <= edit.end <= len(self.raw):
                raise ValueError(f"{self.path}: {edit} overlaps another edit or lies outside the file")
            end = edit.end
            if not (self._is_boundary(edit.start) and self._is_boundary(edit.end)):
                raise ValueError(f"{self.path}: {edit} cuts a character or a newline in two")
            splices.append((edit.start, edit.end, self._encode(edit)))
        return splices

    def apply(self, edits: Iterable[Edit]) -> bytes:
        """The file with the edits in place; every byte that no edit covers is copied. Raises what `splices` raises."""
        pieces: list[bytes] = []
        copied = 0
        for start, end, new in self.splices(edits):
            pieces += (self.raw[copied:start], new)
            copied = end
        return b"".join((*pieces, self.raw[copied:]))

    def with_edits(self, edits: Iterable[Edit]) -> Source:
        """The source after the edits; it keeps `newline`, so that later edits write the newline that these wrote.

        Raises what `splices` raises, and SourceError when the result is not readable or declares another encoding.
        """
        edited = Source.from_bytes(self.apply(edits), self.path)
        if edited.encoding != self.encoding or edited.bom != self.bom:
            raise SourceError(f"the edits change the encoding of the file from {self.encoding} to {edited.encoding}")
        edited.newline = self.newline
        return edited

    def map_offset(self, edits: Iterable[Edit], offset: int) -> int:
        """Where the byte at `offset` lies once the edits are applied: behind what is inserted there.

        A byte that is replaced goes to the start of its replacement. Raises what `splices` raises.
        """
        _checked(offset, len(self.raw))
        moved = offset
        for start, end, new in self.splices(edits):
            if offset < end:
                return moved - max(0, offset - start)
            moved += len(new) - (end - start)
        return moved

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            lines = self.raw[self._begin :].splitlines(keepends=True)
            starts = list(accumulate(map(len, lines), initial=self._begin))
            if lines and not lines[-1].endswith((b"\n", b"\r")):
                starts.pop()
            self._starts = starts
        return self._starts

    def _start_of(self, line: int) -> int:
        return self._line_starts()[line - 1]

    def _line_bytes(self, line: int) -> bytes:
        span = self.line_span(line)
        return self.raw[span.start : span.end].rstrip(b"\r\n")

    def _offset_in_line(self, line: int, characters: int) -> int:
        raw = self._line_bytes(line)
        if self._one_byte or (self.encoding == "utf-8" and raw.isascii()):
            return self._start_of(line) + _checked(characters, len(raw))
        text = raw.decode(self.encoding)
        return self._start_of(line) + len(text[: _checked(characters, len(text))].encode(self.encoding))

    def _is_boundary(self, offset: int) -> bool:
        if self.raw[offset - 1 : offset + 1] == b"\r\n":
            return False
        if self._one_byte or offset == len(self.raw):
            return True
        if self.encoding == "utf-8":
            return self.raw[offset] & 0xC0 != 0x80
        try:
            self.position(offset)
        except UnicodeDecodeError:
            return False
        return True

    def _encode(self, edit: Edit) -> bytes:
        text = edit.replacement
        if self.newline != "\n" or "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", self.newline)
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError as error:
            missing = ascii(text[error.start])
            line = self.position(edit.start).line
            raise SourceError(f"the encoding of the file, {self.encoding}, has no {missing}", line) from None


def compose(first: Sequence[Edit], second: Sequence[Edit], source: Source) -> tuple[Edit, ...]:
    """One set of edits that does what `first` and then `second` do; `second` counts in `source.with_edits(first)`.

    The result counts in `source`, is sorted, does not overlap, and gives the same bytes; edits that touch each other
    have become one, edits that undo each other none. Raises what `Source.with_edits` raises for either step.
    """
    middle = source.with_edits(first)
    final = middle.apply(second)
    # Each splice at its place in the middle text, with the bytes that the first and the second step add there.
    pieces: list[tuple[int, int, int, int]] = []
    grown = 0
    for start, end, new in source.splices(first):
        growth = len(new) - (end - start)
        pieces.append((start + grown, start + grown + len(new), growth, 0))
        grown += growth
    pieces += ((start, end, 0, len(new) - (end - start)) for start, end, new in middle.splices(second))

    groups: list[tuple[int, int, int, int]] = []
    for piece in sorted(pieces):
        if groups and piece[0] <= groups[-1][1]:
            start, end, growth1, growth2 = groups.pop()
            piece = (start, max(end, piece[1]), growth1 + piece[2], growth2 + piece[3])
        groups.append(piece)

    composed = []
    grown1 = grown2 = 0
    for start, end, growth1, growth2 in groups:
        span = Span(start - grown1, end - grown1 - growth1)
        new = final[start + grown2 : end + grown2 + growth2]
        grown1 += growth1
        grown2 += growth2
        if new != source.raw[span.start : span.end]:
            text = new.decode(source.encoding).replace(source.newline, "\n")
            composed.append(Edit(span.start, span.end, text))
    return tuple(composed)


def offset_before(first: Source, edits: tuple[Edit, ...], offset: int) -> int:
    """The byte offset in `first` of an offset in the source that `edits` make of it."""
    shift = 0
    for start, end, new in first.splices(edits):
        at = start + shift
        if offset < at:
            break
        if offset < at + len(new):
            return start
        shift += len(new) - (end - start)
    return min(max(offset - shift, 0), len(first.raw))


def _first_newline(raw: bytes) -> str:
    cr = raw.find(b"\r")
    if cr < 0 or 0 <= raw.find(b"\n") < cr:
        return "\n"
    return "\r\n" if raw[cr + 1 : cr + 2] == b"\n" else "\r"


def _checked(number: int, limit: int) -> int:
    if not 0 <= number <= limit:
        raise ValueError(f"position {number} lies outside 0..{limit}")
    return number
