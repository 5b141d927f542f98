"""An analysis used again for a program that differs only in blanks, comments, and functions that no path runs.

The machine reads syntax trees, and no line numbers before the rules ask for them. So if the new tree is the old one but
for its positions, the old one gets these, and all that is known of it holds. Of a function that no path runs, the
machine sees the head; of its body, only what `_looks_alike` compares.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from autodetach.machine.python_library import has_yield
from autodetach.machine.reach import CALLED_BY_TRAINERS, Reach, mentioned
from autodetach.machine.run import Analysis
from autodetach.project import Files

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
KEPT_WITH_NODES = ("_mentioned", "_parents", "_reach", "_spelled", "_stable", "_test", "_yields")
"""What is found out once about a node and what stands in it."""
EXITS = frozenset({"__exit__", "__aexit__"})
"""Methods whose bodies are looked at before they are run."""


@dataclass(slots=True)
class _Pairs:
    """Nodes of two trees side by side; `bodies` are functions with another body, with all that they stand in."""

    nodes: list[tuple[ast.AST, ast.AST]] = field(default_factory=list)
    bodies: list[tuple[_Function, _Function, tuple[ast.AST, ...]]] = field(default_factory=list)


_Function = ast.FunctionDef | ast.AsyncFunctionDef


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
        tree = before.root.tree
        pairs = _Pairs()
        if not _pair(tree, files.root.tree, pairs, (), lambda function: _is_run(function, known)):
            return None
        if pairs.bodies and known.narrowed:
            return None  # what was not run may now be where a history begins, and so a reason to run it
        if pairs.bodies and not _reach_alike(tree, files.root.tree):
            return None
        moved = [(old, new) for old, new in pairs.nodes if _position(old) != _position(new)]
        if moved and any(isinstance(old, FUNCTIONS) and old.name == CALLED_BY_TRAINERS for old, _ in pairs.nodes):
            return None  # the call by the trainer stands in no file, and has a position nevertheless
        for function, edited, around in pairs.bodies:
            function.body = edited.body
            for node in around:
                for name in KEPT_WITH_NODES:
                    vars(node).pop(name, None)
        for old, new in moved:
            for name in old._attributes:
                setattr(old, name, getattr(new, name))
        files.share(tree)
        self._files = files
        return known


def _pair(
    old: object, new: object, pairs: _Pairs, around: tuple[ast.AST, ...], is_run: Callable[[_Function], bool]
) -> bool:
    """Whether two trees are the same but for positions and for bodies that are not run; `pairs` is filled."""
    pending: list[tuple[object, object, tuple[ast.AST, ...]]] = [(old, new, around)]
    while pending:
        a, b, around = pending.pop()
        if a.__class__ is not b.__class__:
            return False
        if isinstance(a, ast.AST) and isinstance(b, ast.AST):
            pairs.nodes.append((a, b))
            children = list(_children(a, b))
            if isinstance(a, FUNCTIONS) and isinstance(b, FUNCTIONS) and around and not is_run(a):
                body = _Pairs()
                inner = (a.body, b.body)
                if _pair(*inner, body, (), is_run):
                    pairs.nodes += body.nodes
                elif _looks_alike(a, b):
                    pairs.bodies.append((a, b, (*around, a)))
                else:
                    return False
                children = [pair for pair in children if pair[0] is not a.body]
            if around or isinstance(a, ast.Module):
                # Only what stands in a module, or in a class of one, is surely looked at by nobody else.
                around = (*around, a) if isinstance(a, (ast.Module, ast.ClassDef)) else ()
            pending += ((x, y, around) for x, y in children)
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pending += ((x, y, around) for x, y in zip(a, b, strict=True))
        elif a != b:
            return False
    return True


def _is_run(function: _Function, analysis: Analysis) -> bool:
    return any(function.body[0] in run.machine.executed for run in analysis.runs)


def _looks_alike(old: _Function, new: _Function) -> bool:
    """Whether two functions with the same head are the same for who does not run them."""
    saves = [
        {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)} & {"save_for_backward"}
        for function in (old, new)
    ]
    return old.name not in EXITS and has_yield(old) == has_yield(new) and saves[0] == saves[1]


def _reach_alike(old: ast.Module, new: ast.Module) -> bool:
    """Whether the same functions of two programs are worth being run as entry points."""
    before, after = Reach([old]), Reach([new])
    names = mentioned(old)[0].keys() | mentioned(new)[0].keys()
    return all(before.matters(name) == after.matters(name) for name in names)


def _children(a: ast.AST, b: ast.AST) -> Iterator[tuple[object, object]]:
    for name in a._fields:
        x, y = getattr(a, name, None), getattr(b, name, None)
        if x is not y:
            yield x, y


def _position(node: ast.AST) -> tuple[int | None, ...]:
    return tuple(getattr(node, name, None) for name in node._attributes)
