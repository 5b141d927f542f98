"""The parts of a run: the statements of its module that call functions, and its entry points."""

from __future__ import annotations

import ast
from collections.abc import Set

from autodetach.named_tuples import NamedTuple


class Part(NamedTuple):
    """A statement of the module, or the entry point of a name, with the functions that it has called, and its cost."""

    of: ast.stmt | str
    functions: Set[ast.AST]
    cost: int


class Selection(NamedTuple):
    """What is run of a program: all but the statements `without`, and the entry points of these names."""

    without: Set[ast.stmt]
    entries: Set[str]
