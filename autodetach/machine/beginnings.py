"""Which other paths of a program can show more than its first one, on which no history has begun.

A library works on what others give it: on its first path nothing begins a history, nor is anything differentiated, and
its other paths, some twenty of them, rarely differ in that. History begins at a few words (see `autodetach.relevance`).
A test leads to more where its other outcome may lead to a place with such a word that was not surely evaluated: it
stands in the same function or class, in one that calls it, directly or not, or is called by that itself. What is
imported from a file that could be loaded, and that nothing has asked for, may be such a word. Once a history has begun
on a path, all others are run.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Container, Iterator, Mapping

from autodetach.machine.mentioned import mentioned
from autodetach.machine.mentions import Import, bound_by, file_of
from autodetach.machine.oracle import TestKey
from autodetach.machine.project import Module, Project
from autodetach.named_tuples import NamedTuple

MODULE = "<module>"


class Leads:
    """Whether a test can lead to a beginning of history in a program, of which these statements were executed."""

    def __init__(self, tree: ast.Module, project: Project | None, executed: Container[ast.AST]) -> None:
        modules = [] if project is None else project.modules
        others = LeftOut() if project is None else left_out(project)
        self._all = False
        self._names: set[str] = set()
        self._functions: Collection[str] = ()
        self._files = {module.name for module in modules if module.tree is not tree}
        calls: dict[str, set[str]] = {}
        imported = [(module.tree, _body_of(module.name)) for module in modules if module.tree is not tree]
        for one, body in [(tree, MODULE), *imported]:
            left = not_passed(one, executed, others)
            if left is None:
                self._all = True
                return
            self._names |= {body if name == MODULE else name for name in left}
            mentions = mentioned(one)
            for parts in (mentions.functions, mentions.methods):
                for name, part in parts.items():
                    calls.setdefault(name, set()).update(part.names)
        for name, bound in others.aliases:
            calls.setdefault(bound, set()).add(name)
        called = {name for left in self._names for name in calls.get(left, ())}
        waiting = set(self._names)
        while waiting:
            waiting = {
                name for name, inner in calls.items() if name not in self._names and not waiting.isdisjoint(inner)
            }
            self._names |= waiting
        self._names |= called
        self._functions = calls.keys()

    def further(self, test: TestKey) -> bool:
        """Whether the other outcome of a test may lead to a place that was not passed."""
        return self._all or not self._names.isdisjoint(self._around(test[0]))

    def _around(self, scope: str) -> list[str]:
        """The functions and classes around a test, and the body of its file where it stands in no function."""
        around, body = scope.split("."), MODULE
        for size in (2, 1):
            file = ".".join(around[:size])
            if file in self._files:
                around, body = around[size:], _body_of(file)
                break
        return around if any(name in self._functions for name in around) else [*around, body]


def _body_of(file: str) -> str:
    return f"{MODULE} of {file}"


class LeftOut(NamedTuple):
    """What the files of a program import from others that could be loaded and are not.

    These `names`, and by `import *` any, in these `statements`. `aliases` are the names that imports of what is loaded
    give to others.
    """

    names: Collection[str] = frozenset()
    statements: Collection[ast.stmt] = frozenset()
    aliases: Collection[tuple[str, str]] = ()


def left_out(project: Project) -> LeftOut:
    """What nothing has asked for on a path, and another one may ask for."""
    loaded = {module.path: module for module in project.modules}
    found: set[str] = set()
    statements: set[ast.stmt] = set()
    aliases: list[tuple[str, str]] = []
    for module in project.modules:
        for statement in mentioned(module.tree).imports:
            for alias in statement.names:
                bound = bound_by(statement, alias)
                if all(path in loaded for path in _paths(statement, alias, module, project, loaded)):
                    aliases.append((alias.name, bound))
                elif bound == "*":
                    statements.add(statement)
                else:
                    found.add(bound)
    more = found
    while more:
        more = {bound for name, bound in aliases if name in found and bound not in found}
        found |= more
    return LeftOut(found, statements, [(name, bound) for name, bound in aliases if name != bound])


def _paths(
    statement: Import, alias: ast.alias, importer: Module, project: Project, loaded: Mapping[str, Module]
) -> Iterator[str]:
    """The files that an import of a name means, among those that could be loaded."""
    path = project.find(file_of(statement, alias), importer)
    if path is None:
        return
    yield path
    if isinstance(statement, ast.ImportFrom) and path in loaded and loaded[path].is_package and alias.name != "*":
        inner = project.find(f".{alias.name}", loaded[path])
        if inner is not None:
            yield inner


def not_passed(
    tree: ast.Module,
    executed: Container[ast.AST],
    others: LeftOut = LeftOut(),  # noqa: B008 - it is frozen
) -> set[str] | None:
    """The functions and classes of a file in which history may begin at a place that was not surely run.

    What stands in none is called MODULE. At what is in `others` it may begin, too. None where nothing is clear.
    """
    from autodetach.machine.word_places import word_places

    mentions = mentioned(tree)
    if not mentions.is_clear:
        return None
    names = mentions.names_that_matter(others.names)
    found: set[str] = set()
    for place in word_places(tree):
        may_begin = place.always or place.perhaps.begin(names, others.names)
        if not may_begin and place.statement not in executed:
            may_begin = place.sure.begin(names, others.names) or place.statement in others.statements
        if may_begin:
            found.update(place.around or (MODULE,))
    return found
