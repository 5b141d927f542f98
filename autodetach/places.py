"""Places and edits as people see them: in a file, or in a cell of a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autodetach.source import Edit, Source


@dataclass(frozen=True, slots=True)
class Place:
    """A place as people name it: `line` from 1, `column` from 0 in characters, in the notebook's cell `cell` from 1.

    `source` is what people see there, the file or the text of the cell (`index` among the code cells, from 0), and
    `offset` the byte offset in it. Where there are no cells, `cell` is None.
    """

    source: Source
    offset: int
    line: int
    column: int
    cell: int | None = None
    index: int = 0

    @property
    def shown(self) -> str:
        """The name of the file, and of the cell."""
        return f"{self.source.path}{self.in_cell}"

    @property
    def in_cell(self) -> str:
        """What follows the name of the file."""
        return "" if self.cell is None else f":cell {self.cell}"


@dataclass(frozen=True, slots=True)
class Part:
    """The edits of one text as people see it: `source` and `cell` are as in Place, `edits` count in `source`."""

    source: Source
    edits: tuple[Edit, ...]
    cell: int | None = None
    index: int = 0

    @property
    def in_cell(self) -> str:
        """What follows the name of the file."""
        return "" if self.cell is None else f":cell {self.cell}"
