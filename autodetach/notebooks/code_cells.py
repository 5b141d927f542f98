"""Code cells as they stand in the JSON of a notebook."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|[^\\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Literal:
    """A JSON string: `start` and `end` are where its quotes begin and end in the text of the file."""

    start: int
    end: int
    value: str


@dataclass(frozen=True, slots=True)
class CodeCell:
    """A code cell: its number among all cells, from 1, and its source, one string or (`is_list`) several.

    `start` and `end` are where the JSON of the source begins and ends.
    """

    number: int
    start: int
    end: int
    literals: tuple[Literal, ...]
    is_list: bool
    raises: bool

    @property
    def text(self) -> str:
        return "".join(literal.value for literal in self.literals)


def places_in(inner: str) -> list[int]:
    """Where in a JSON string each of its characters begins, and the last one ends."""
    return [0, *(match.end() for match in _CHARACTER.finditer(inner))]
