"""The text of an open document: what an editor and the server must agree on, character by character."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate

from lsprotocol import types

# A line ends here and nowhere else: not at the form feeds and U+2028 at which `str.splitlines` ends it.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}


class Text:
    """A text with the positions of LSP, which count in the units of `encoding`: utf-8, utf-16 or utf-32."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self.encoding = encoding
        self._lines: list[str] | None = None
        self._starts: list[int] | None = None

    def index(self, position: types.Position) -> int:
        """The index into the text of a position; one outside of its line, or of the text, means the nearest inside."""
        lines, starts = self._table()
        if position.line >= len(lines):
            return len(self.text)
        line = lines[position.line].rstrip("\r\n")
        return starts[position.line] + index_in(line, position.character, self.encoding)

    def changed(self, changes: Iterable[types.TextDocumentContentChangeEvent]) -> Text:
        """The text after changes, each of which counts in the text that the one before has made."""
        now = self
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = now.index(change.range.start), now.index(change.range.end)
                start, end = min(start, end), max(start, end)
                now = Text(now.text[:start] + change.text + now.text[end:], self.encoding)
            else:
                now = Text(change.text, self.encoding)
        return now

    def _table(self) -> tuple[list[str], list[int]]:
        if self._lines is None or self._starts is None:
            self._lines = _LINE.findall(self.text)
            self._starts = list(accumulate(map(len, self._lines), initial=0))
        return self._lines, self._starts


def index_in(line: str, column: int, encoding: str) -> int:
    """The index into a line of a column; the middle of a character means its start, too much the end of the line."""
    if encoding not in _UNITS or line.isascii():
        return min(column, len(line))
    codec, width = _UNITS[encoding]
    units = line.encode(codec, "surrogatepass")[: width * column]
    # A lone surrogate is a character of its own to whoever sent it.
    while True:
        try:
            read = units.decode(codec, "surrogatepass")
        except UnicodeDecodeError as error:
            units = units[: error.start]
        else:
            return len(read) if line.startswith(read) else len(read) - 1


def column_of(text: str, encoding: str) -> int:
    """How many units a text takes."""
    if encoding not in _UNITS or text.isascii():
        return len(text)
    codec, width = _UNITS[encoding]
    return len(text.encode(codec, "surrogatepass")) // width
