"""How lines are shown in a terminal: in its styles, and broken where it ends."""

from __future__ import annotations

import re
from dataclasses import dataclass

from autodetach.report.excerpt import MAX_COLUMNS, display_width

RED, YELLOW, GREEN, CYAN, BOLD, DIM = "31", "33", "32", "36", "1", "2"
_STYLE = re.compile("\x1b\\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Style:
    """With colour or without, and the columns of the terminal, None where there is none."""

    colour: bool = False
    width: int | None = None

    def paint(self, text: str, style: str) -> str:
        """The text in a style of the terminal."""
        return f"\x1b[{style}m{text}\x1b[0m" if self.colour else text

    def prose(self, text: str, indent: int) -> list[str]:
        """The text in lines, those behind the first indented."""
        return wrapped(text, self.width, indent)

    def columns(self, taken: int) -> int:
        """How many columns are left for a line of source beside what is taken."""
        return MAX_COLUMNS if self.width is None else min(MAX_COLUMNS, self.width - taken)


def bold(text: str, colour: bool) -> str:
    """The text as a heading."""
    return Style(colour).paint(text, BOLD)


def wrapped(text: str, width: int | None, indent: int) -> list[str]:
    """The text in lines of at most `width` columns, those behind the first indented; words are kept whole."""
    if width is None:
        return [text]
    head = text[: len(text) - len(text.lstrip(" "))]
    lines: list[str] = []
    line, used = head, len(head)
    for number, word in enumerate(text[len(head) :].split(" ")):
        columns = display_width(_STYLE.sub("", word))
        if number and used + 1 + columns > width:
            lines.append(line)
            line, used = " " * indent + word, indent + columns
        else:
            line, used = (f"{line} {word}", used + 1 + columns) if number else (line + word, used + columns)
    return [*lines, line]
