"""Writing to the streams of a terminal, or of whatever stands in its place."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

# What a terminal would obey and not show, and what makes text read in another order than it is written.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def printable(text: str) -> str:
    """The text in one line, with control characters, directional marks and lone surrogates as escapes."""
    return _UNSAFE.sub(lambda match: _escape(match[0]), text)


def counted(number: int, noun: str) -> str:
    """So many of something, as people say it."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour what goes to `stream`: NO_COLOR, then FORCE_COLOR, then whether it is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def width_of(stream: TextIO | None) -> int | None:
    """How many columns the terminal behind `stream` has (COLUMNS decides, if set); None if there is no terminal."""
    if stream is None or not stream.isatty():
        return None
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        # A terminal that does not know its width says 0.
        return os.get_terminal_size(stream.fileno()).columns or None
    except OSError:
        return None


def say(text: str) -> None:
    """Write lines that are for a person, not for a program, to standard error, if there is one."""
    if sys.stderr is None:  # in a program that is watched
        return
    _write(sys.stderr, text.encode(sys.stderr.encoding or "utf-8", "backslashreplace") + b"\n")


def ask(question: str) -> str | None:
    """The answer to a question at the terminal, its first letter in lower case (empty for none); None at the end."""
    put(question)
    try:
        line = sys.stdin.readline()
    except UnicodeDecodeError:
        return ""
    if not line:
        put("\n")
        return None
    return line.strip()[:1].lower()


def put(result: str) -> None:
    """Write text to standard output as it is, with nothing added."""
    put_bytes(result.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))


def put_bytes(result: bytes) -> None:
    """Write bytes to standard output as they are."""
    _write(sys.stdout, result)


def _write(stream: TextIO, data: bytes) -> None:
    buffer = getattr(stream, "buffer", None)
    try:
        stream.flush()
        if buffer is None:  # what a notebook has, or a program that collects what is printed
            stream.write(data.decode(stream.encoding or "utf-8", "backslashreplace"))
            stream.flush()
            return
        buffer.write(data)
        buffer.flush()
    except OSError as error:
        # The interpreter flushes its streams at its end and would complain again.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        # Nobody reading any more (`autodetach check | head`) is no fault, and the work goes on.
        if not isinstance(error, BrokenPipeError):
            error.filename = "standard error" if stream is sys.stderr else "standard output"
            raise


def _escape(character: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    code = ord(character)
    return named.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
