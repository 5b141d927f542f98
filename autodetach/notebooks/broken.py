"""A cell that does not parse among others that do: Jupyter runs the others, and so they are one program.

Nobody knows what such a cell is meant to be: a placeholder in it, `<your code>`, is still to be filled in. So it may
read all that it names, and give it to whatever it likes, and what it names may be anything behind it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence

from autodetach.named_tuples import NamedTuple
from autodetach.node_types import DEFINITIONS
from autodetach.notebooks.magics import Line, PythonCell, split_lines
from autodetach.source import Source

_NAME = re.compile(r"[^\W\d]\w*")
_KEPT_FOR_LATER = re.compile(r"\b(?:class|def|lambda)\b")
_ANYTHING = "get_ipython"


class BrokenCell(NamedTuple):
    """What is wrong in a cell with this number; `source` is its text with magics as Python, in which `line` counts."""

    number: int
    message: str
    line: int
    source: Source


class Bound(NamedTuple):
    """The names that a cell binds, without those of what it imports; `callables` are functions and classes."""

    names: frozenset[str] = frozenset()
    callables: frozenset[str] = frozenset()


def bound(tree: ast.Module) -> Bound:
    """What is bound somewhere in a cell."""
    names, callables = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, DEFINITIONS):
            names.add(node.name)
            callables.add(node.name)
    return Bound(frozenset(names), frozenset(callables))


def standing_in(text: str, before: Iterable[Bound], others: Iterable[Bound]) -> PythonCell:
    """The Python in the place of a broken cell: nobody can edit it.

    `before` is what the cells before it bind, `others` what all of them do: whatever else it names is unknown anyway.
    """
    words = set(_NAME.findall(text))
    known = frozenset[str]().union(*(one.names for one in before))
    callables = frozenset[str]().union(*(one.callables for one in before))
    # What it calls may read all that there is.
    read = known if "(" in text and not words.isdisjoint(callables) else known & words
    named = words.intersection(name for one in others for name in one.names)
    first = "; ".join((given(read), *(f"{name} = {_ANYTHING}()" for name in sorted(named))))
    python = (first, *("" for _ in split_lines(text)[1:]))
    return PythonCell(tuple(Line(line, kept=False, before=False, behind=False) for line in python))


def read_later(texts: Iterable[str], others: Sequence[Bound]) -> str:
    """The Python that reads what functions of broken cells may read when all cells are run; empty if there is none."""
    words = {word for text in texts if _KEPT_FOR_LATER.search(text) for word in _NAME.findall(text)}
    read = words.intersection(name for one in others for name in one.names)
    return given(read) if read else ""


def given(names: Iterable[str]) -> str:
    """The Python that gives values to code out of view."""
    return f"{_ANYTHING}({', '.join(sorted(names))})"
