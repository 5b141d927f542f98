"""Lines that are broken where a terminal ends."""

from __future__ import annotations

import re

from autodetach.report.excerpt import display_width

_STYLE = re.compile("\x1b\\[[0-9;]*m")


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
