"""Bytes of a file to text, as CPython decodes source (byte order mark, PEP 263 cookie), and what cannot be read."""

from __future__ import annotations

import codecs
import io
import re

_UTF8_BOM = codecs.BOM_UTF8
_WIDE_BOMS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
# Not compiled here: this module is imported for every clean file, and few files need it.
_COOKIE = rb"(?s)[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"


class SourceError(Exception):
    """A file that cannot be read, or written, as Python source.

    `message` is one line that says what and where; `line` counts from 1, or is None where the fault has no line. In a
    notebook it counts in the cell with the number `cell`. `skipped`: the file is well, but nothing to look at.
    """

    cell: int | None = None
    skipped = False

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def decoded(raw: bytes) -> tuple[str, str]:
    """The text of a file, without its byte order mark, and the name of its codec.

    Raises SourceError: undecodable bytes, unknown or unusable encodings, UTF-16 and UTF-32, NUL bytes.
    """
    for mark, name in _WIDE_BOMS:
        if raw.startswith(mark):
            raise SourceError(f"the file is {name}, which Python does not read as source; save it as UTF-8", 1)
    nul = raw.find(b"\0")
    if nul >= 0:
        raise SourceError(f"the file holds a NUL byte at byte offset {nul}; it is no source", line_at(raw, nul))
    encoding = declared_encoding(raw)
    return _decode(raw, text_begins(raw), encoding), encoding


def text_begins(raw: bytes) -> int:
    """The byte offset behind the UTF-8 byte order mark, which is no text."""
    return len(_UTF8_BOM) if raw.startswith(_UTF8_BOM) else 0


def declared_encoding(raw: bytes) -> str:
    """The codec name that the first two lines declare, or "utf-8"; raises SourceError for what CPython refuses."""
    begin = text_begins(raw)
    for number, line in enumerate(_first_two_lines(raw, begin), start=1):
        cookie = re.match(_COOKIE, line) if b"coding" in line else None
        if cookie is None:
            if line.lstrip(b" \t\f")[:1] in (b"", b"#"):
                continue
            break
        name = _spelled_as_cpython_does(cookie[1].decode("ascii"))
        if begin and name != "utf-8":
            raise SourceError(f"the file begins with a UTF-8 byte order mark but declares the encoding {name}", number)
        try:
            return codecs.lookup(name).name
        except LookupError:
            raise SourceError(f"the file declares the unknown encoding {name}", number) from None
    return "utf-8"


def _first_two_lines(raw: bytes, begin: int) -> list[bytes]:
    size = 256
    while True:
        lines = raw[begin : begin + size].splitlines()
        if len(lines) > 2 or begin + size >= len(raw):
            return lines[:2]
        size *= 4


def _spelled_as_cpython_does(name: str) -> str:
    # get_normal_name() of CPython's tokenizer, which also takes "utf-8-unix" and "latin-1-dos" of Emacs.
    known = f"{name.lower().replace('_', '-')}-"
    if known.startswith("utf-8-"):
        return "utf-8"
    return "iso-8859-1" if known.startswith(("latin-1-", "iso-8859-1-", "iso-latin-1-")) else name


def _decode(raw: bytes, begin: int, encoding: str) -> str:
    body = raw[begin:] if begin else raw
    try:
        text = body.decode(encoding)
        splices_well = encoding == "utf-8" or _has_bytes_for_every_character(text, body, encoding)
    except UnicodeDecodeError as error:
        offset = begin + error.start
        what = f"byte 0x{raw[offset]:02x} at byte offset {offset} is not {encoding}"
        raise SourceError(f"{what}; save the file as UTF-8, or declare its encoding", line_at(raw, offset)) from None
    except (LookupError, UnicodeError):
        splices_well = False
    if not splices_well:
        raise SourceError(f"the declared encoding {encoding} cannot be edited byte by byte; save the file as UTF-8", 1)
    return text


def _has_bytes_for_every_character(text: str, body: bytes, encoding: str) -> bool:
    """Whether each character, newlines first of all, has bytes of its own: not so where a codec keeps state."""
    if "\n\r".encode(encoding) != b"\n\r":
        return False
    if body.isascii() and body.decode("ascii") == text:
        return True
    widths = {character: len(character.encode(encoding)) for character in set(text)}
    text_lines = list(io.StringIO(text, newline=""))
    lines = body.splitlines(keepends=True)
    return len(lines) == len(text_lines) and all(
        len(line) == len(text_line.encode(encoding)) == sum(map(widths.__getitem__, text_line))
        for line, text_line in zip(lines, text_lines, strict=True)
    )


def line_at(raw: bytes, offset: int) -> int:
    """The line, from 1, of a byte; lines end where CPython ends them."""
    return len((raw[:offset] + b".").splitlines())
