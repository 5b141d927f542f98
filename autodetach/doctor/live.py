"""One line at the terminal while a program runs, gone as soon as the program writes something itself."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from autodetach.console import printable, width_of
from autodetach.doctor.observer import Observer

INTERVAL = 1.0
"""Seconds between two changes of the line."""
_ERASE = "\r\x1b[2K"


class LiveLine:
    """Steps, nodes of graph held, and what gathers fastest: a reporter of an observer.

    The line is drawn only where the program has ended its own, and is erased before the next text that goes through
    `sys.stdout` or `sys.stderr`. What is written past those (by C, by other processes) may stand behind it.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._put: Callable[[str], Any] = stream.write
        self._next = time.monotonic() + INTERVAL
        self._drawn = False
        self._free = True
        self._process = os.getpid()
        self._undo: list[Callable[[], None]] = []
        for each in {id(s): s for s in (sys.stdout, sys.stderr) if s.isatty()}.values():
            self._listen(each)

    def __call__(self, observer: Observer) -> None:
        """Something has happened: draw the line anew if it is time."""
        now = time.monotonic()
        if now < self._next or not self._free or not observer.journal.calls or os.getpid() != self._process:
            return
        self._next = now + INTERVAL
        text = _shortened(line(observer), width_of(self._stream) or 80)
        self._write(f"{_ERASE}{text}")
        self._drawn = True

    def erase(self) -> None:
        """Take the line away; it may come again."""
        if self._drawn and os.getpid() == self._process:  # a child that was forked leaves the line to its parent
            self._drawn = False
            self._write(_ERASE)

    def end(self) -> None:
        """Take it away, and leave the streams as they were."""
        self.erase()
        while self._undo:
            self._undo.pop()()

    def _write(self, text: str) -> None:
        try:
            self._put(text)
            self._stream.flush()
        except (OSError, ValueError):  # the program has closed it
            self._next = float("inf")

    def _listen(self, stream: TextIO) -> None:
        original = stream.write

        def write(text: str) -> int:
            self.erase()
            if text:
                self._free = text.endswith("\n")
            return original(text)

        try:
            stream.write = write  # type: ignore[method-assign]
        except AttributeError:
            return
        self._undo.append(lambda: delattr(stream, "write"))


def line(observer: Observer) -> str:
    """What is known now, in a line."""
    growth = observer.growth
    parts = [f"{observer.steps:,} steps" if observer.steps else f"{observer.journal.calls:,} differentiations"]
    if growth.totals:
        parts.append(f"{growth.totals[-1].nodes:,} nodes of graph held")
    leaks = growth.leaks()
    if leaks:
        parts.append(f"`{printable(leaks[0].binding.path)}` grows by {leaks[0].per_pass:.0f} a pass")
    return f"autodetach: {', '.join(parts)}"


def _shortened(text: str, width: int) -> str:
    # In its last column, a terminal may go on to the next line.
    return text if len(text) < width else text[: max(width - 2, 0)] + "…"
