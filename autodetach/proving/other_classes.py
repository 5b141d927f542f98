"""Classes that a program has, and does not make: they may train what a base class keeps for them.

`class Batch(Learner)` differentiates `self.losses`, and this file makes `Online(Learner)` only: others import `Batch`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from autodetach.machine.children import walk
from autodetach.machine.names_that_train import classes_in
from autodetach.machine.spelling import last_word
from autodetach.machine.walking import differentiates
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import FUNCTIONS
from autodetach.proving.branches_off import filled_by


class Other(NamedTuple):
    """A class that nothing makes, and what makes its relatives, by their names."""

    made: ast.ClassDef
    names: tuple[ast.Name, ...]


def others_that_train(trees: Iterable[ast.Module], statements: Collection[ast.stmt]) -> Iterator[Other]:
    """The relatives of a class that nothing makes, and that differentiate where they read what some statements keep."""
    for tree in trees:
        classes = classes_in(tree)
        homes = [one for one in classes if any(_stands_in(statement, one) for statement in statements)]
        if not homes:
            continue
        kept = {word for statement in statements for word in filled_by(statement)}
        ancestors = {one.name: _ancestors(one, classes) for one in classes}
        calls = [node.func for node in walk(tree) if isinstance(node, ast.Call)]
        made = {last_word(func) for func in calls}
        for one in classes:
            home = next((home.name for home in homes if home.name in ancestors[one.name] - {one.name}), None)
            if home is None or one.name in made or not _trains(one, kept):
                continue
            names = (f for f in calls if isinstance(f, ast.Name) and home in ancestors.get(f.id, ()))
            yield Other(one, tuple(names))


def _stands_in(statement: ast.stmt, one: ast.ClassDef) -> bool:
    """Whether a statement stands in a class: lines of all files are told apart, see `projects.project`."""
    return one.lineno <= statement.lineno <= (one.end_lineno or one.lineno)


def _ancestors(one: ast.ClassDef, classes: list[ast.ClassDef]) -> set[str]:
    """A class and all that it is derived from in its file, by name."""
    by_name = {cls.name: cls for cls in classes}
    found: set[str] = set()
    waiting = [one.name]
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in found:
            found.add(name)
            waiting += [last_word(base) for base in by_name[name].bases]
    return found


def _trains(one: ast.ClassDef, kept: Collection[str]) -> bool:
    """Whether a method differentiates, and reads what is kept in an attribute."""
    return any(
        differentiates(method)
        and any(isinstance(node, ast.Attribute) and node.attr in kept for node in walk(method))
        for method in one.body
        if isinstance(method, FUNCTIONS)
    )
