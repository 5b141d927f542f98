"""An analysis used again for a program that differs in blanks and comments alone: half of what is typed is no code.

The machine reads syntax trees, and no line numbers before the rules ask for them. So if the new tree is the old one but
for its positions, the old one gets these, and all that is known of it holds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.reach import CALLED_BY_TRAINERS
from autodetach.machine.run import Analysis
from autodetach.project import Files


class Again:
    """Remembers one analysis, the last."""

    def __init__(self) -> None:
        self._files: Files | None = None
        self._analysis: Analysis | None = None

    def keep(self, files: Files, analysis: Analysis) -> None:
        """Remember what was found out about a program."""
        # Of a program of several files, it would have to be known that all of them are the same.
        alone = len(files.modules) == 1
        self._files, self._analysis = (files, analysis) if alone else (None, None)

    def analysis(self, files: Files) -> Analysis | None:
        """What is known of a program, which then shares its tree with the one that was kept; None if it is another."""
        before, known = self._files, self._analysis
        if before is None or known is None or before.root.path != files.root.path:
            return None
        if any(files.load(name, files.root) is not None for _, name in before.asked):
            return None
        pairs = _paired(before.root.tree, files.root.tree)
        if pairs is None:
            return None
        moved = [(old, new) for old, new in pairs if _position(old) != _position(new)]
        if moved and any(isinstance(old, ast.FunctionDef) and old.name == CALLED_BY_TRAINERS for old, _ in pairs):
            return None  # the call by the trainer stands in no file, and has a position nevertheless
        for old, new in moved:
            for name in old._attributes:
                setattr(old, name, getattr(new, name))
        files.share(before.root.tree)
        self._files = files
        return known


def _paired(old: ast.AST, new: ast.AST) -> list[tuple[ast.AST, ast.AST]] | None:
    """The nodes of two trees side by side if they are the same but for their positions."""
    pairs: list[tuple[ast.AST, ast.AST]] = []
    pending: list[tuple[object, object]] = [(old, new)]
    while pending:
        a, b = pending.pop()
        if a.__class__ is not b.__class__:
            return None
        if isinstance(a, ast.AST) and isinstance(b, ast.AST):
            pairs.append((a, b))
            pending += _children(a, b)
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return None
            pending += zip(a, b, strict=True)
        elif a != b:
            return None
    return pairs


def _children(a: ast.AST, b: ast.AST) -> Iterator[tuple[object, object]]:
    for name in a._fields:
        x, y = getattr(a, name, None), getattr(b, name, None)
        if x is not y:
            yield x, y


def _position(node: ast.AST) -> tuple[int | None, ...]:
    return tuple(getattr(node, name, None) for name in node._attributes)
