"""The files that a program is made of, as the machine sees them; it neither finds nor reads them."""

from __future__ import annotations

import ast
from typing import Protocol


class Module:
    """One file of a program.

    All files of a program share one count of lines: line `n` of this file has the number `first + n` in `tree`, and
    those from `first + 1` to `last` belong to no other file. `path`, absolute, tells files apart; `name` is dotted.
    """

    __slots__ = ("first", "is_package", "last", "name", "path", "tree")

    def __init__(self, path: str, name: str, tree: ast.Module, first: int, last: int, is_package: bool = False) -> None:
        self.path = path
        self.name = name
        self.tree = tree
        self.first = first
        self.last = last
        self.is_package = is_package


class Project(Protocol):
    """A program: the file that is analysed, and those that it can import."""

    @property
    def root(self) -> Module: ...

    @property
    def modules(self) -> list[Module]:
        """The root, then what has been loaded, in order."""
        ...

    def line_name(self, line: int) -> str:
        """How people call a line: "line 12", with the file where it is not the root, or the cell of a notebook."""
        ...

    def cell_of(self, line: int) -> int | None:
        """The number of the cell in which a line stands, if the root is a notebook and that is a line of it."""
        ...

    def load(self, name: str, importer: Module) -> Module | None:
        """The file that `import name` means in `importer` (leading dots: relative), or None if it is none of these."""
        ...

    def is_left_out(self, name: str, importer: Module) -> bool:
        """Whether `load` gives nothing because the file that it would give is too much to be looked at."""
        ...

    def find(self, name: str, importer: Module) -> str | None:
        """The absolute path of what `load` would give, which need not be loaded for that."""
        ...

    def is_idle(self, path: str) -> bool:
        """Whether neither a file nor anything that it imports has a word at which history begins."""
        ...
