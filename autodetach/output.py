"""Where results go: to standard output, to standard error where that is taken, or to a file that the user names."""

from __future__ import annotations

import sys
from typing import TextIO

from autodetach.console import printable, put, put_bytes, say, wants_colour, width_of
from autodetach.named_tuples import NamedTuple


class OutputError(Exception):
    """The file for the results cannot be written; the text names it and says why, in one line."""


class Output(NamedTuple):
    """`file` is None for the standard streams; `aside`: standard output is taken for something else."""

    file: str | None = None
    aside: bool = False

    def check(self) -> None:
        """Raise OutputError, before any work is done, if it can be told that the file cannot be written."""
        if self.file is not None:
            from autodetach.disk.write import obstacle

            fault = "a name is missing" if not self.file else obstacle(self.file)
            if fault is not None:
                raise OutputError(f"--output-file {self.file}: {fault}")

    @property
    def colour(self) -> bool:
        """Whether text that goes here is coloured; never in a file."""
        return self.file is None and wants_colour(self._stream)

    @property
    def width(self) -> int | None:
        """How many columns there are; None where nothing limits them."""
        return width_of(self._stream) if self.file is None else None

    def write(self, result: str) -> None:
        """Write text as it is; a file is written even where there is nothing to say. Raises OutputError."""
        if self.file is not None:
            self.write_bytes(result.encode("utf-8", "backslashreplace"))
        elif self.aside and result:
            say(result.removesuffix("\n"))
        elif result:
            put(result)

    def write_bytes(self, result: bytes) -> None:
        """Write bytes as they are; to a terminal, what it would obey is written as escapes. Raises OutputError."""
        if self.file is None:
            if sys.stdout.isatty():
                put(_for_terminal(result.decode("utf-8", "backslashreplace")))
            else:
                put_bytes(result)
            return
        from autodetach.disk.write import WriteError, write_result

        try:
            write_result(self.file, result)
        except WriteError as error:
            raise OutputError(f"--output-file {self.file}: {error}") from None

    @property
    def _stream(self) -> TextIO:
        return sys.stderr if self.aside else sys.stdout


def _for_terminal(text: str) -> str:
    lines = (line.removesuffix("\r").split("\t") for line in text.split("\n"))
    return "\n".join("\t".join(map(printable, parts)) for parts in lines)
