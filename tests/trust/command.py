"""The command line in this process, fast enough for thousands of calls, and what has to hold of each."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from autodetach.commands.request import exit_code_of

TALLEST = 200
"""Lines on standard error: more would be a traceback, or a message for each byte."""
NOT_SHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command has come to."""

    code: int
    out: str
    err: str


class _Stream(io.TextIOWrapper):
    def __init__(self, raw: bytes = b"") -> None:
        self.bytes = io.BytesIO(raw)
        super().__init__(self.bytes, encoding="utf-8", errors="backslashreplace", write_through=True)

    def isatty(self) -> bool:
        return False


def run(command: Callable[[], int], stdin: bytes = b"") -> Ran:
    """Run a command; what it raises is not caught."""
    out, err, known = _Stream(), _Stream(), (sys.stdin, sys.stdout, sys.stderr)
    sys.stdin, sys.stdout, sys.stderr = _Stream(stdin), out, err
    try:
        code = exit_code_of(command)
    finally:
        sys.stdin, sys.stdout, sys.stderr = known
    return Ran(code, *(stream.bytes.getvalue().decode("utf-8", "replace") for stream in (out, err)))


def fair(ran: Ran) -> Ran:
    """What ran, if it ended as it may: with 0, 1 or 2, and where something was wrong, with a line that says what."""
    assert ran.code in (0, 1, 2), ran
    assert not re.search("^Traceback", ran.err, re.MULTILINE), ran.err
    assert "internal error" not in ran.err, ran.err
    assert not NOT_SHOWN.search(ran.err), ascii(ran.err)
    lines = ran.err.splitlines()
    assert len(lines) <= TALLEST, ran.err
    if ran.code == 2:
        assert any("error: " in line for line in lines), ran
    return ran


@functools.cache
def folder() -> Path:
    """A folder of this process, in memory where there is such a place."""
    memory = "/dev/shm"
    place = tempfile.mkdtemp(prefix="autodetach-fuzz-", dir=memory if os.access(memory, os.W_OK) else None)
    return Path(place)


@contextlib.contextmanager
def inside(place: Path) -> Iterator[None]:
    """With another current folder."""
    known = os.getcwd()
    os.chdir(place)
    try:
        yield
    finally:
        os.chdir(known)
