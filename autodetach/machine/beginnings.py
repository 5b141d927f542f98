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
from typing import NamedTuple

from autodetach.machine.mentions import CLASSES, SAYING, Import, bound_by, file_of, mentioned
from autodetach.machine.oracle import TestKey
from autodetach.machine.project import Module, Project
from autodetach.machine.words import TESTS

MODULE = "<module>"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_CONDITIONAL = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp)


class Leads:
    """Whether a test can lead to a beginning of history in a program, of which these statements were executed."""

    def __init__(self, tree: ast.Module, project: Project | None, executed: Container[ast.stmt]) -> None:
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
    executed: Container[ast.stmt],
    others: LeftOut = LeftOut(),  # noqa: B008 - it is frozen
) -> set[str] | None:
    """The functions and classes of a file in which history may begin at a place that was not surely run.

    What stands in none is called MODULE. At what is in `others` it may begin, too. None where nothing is clear.
    """
    mentions = mentioned(tree)
    if not mentions.is_clear:
        return None
    names = mentions.names_that_matter(others.names)
    found: set[str] = set()
    pending: list[tuple[ast.AST, tuple[str, ...]]] = [(statement, ()) for statement in tree.body]
    while pending:
        node, around = pending.pop()
        if isinstance(node, (ast.stmt, ast.match_case)):
            passed = node in executed
            is_clear = all(_is_passed(inner, names, others.names, passed=passed) for inner in _evaluated_by(node))
            if not is_clear or (node in others.statements and not passed):
                found.update(around or (MODULE,))
        if isinstance(node, _DEFINITIONS):
            around = (*around, node.name)
        pending += ((inner, around) for inner in ast.iter_child_nodes(node) if not isinstance(inner, ast.expr))
    return found


def _evaluated_by(statement: ast.AST) -> Iterator[ast.expr]:
    """The expressions that running a statement evaluates, without those of statements in it."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from statement.decorator_list
        yield from statement.args.defaults
        yield from (default for default in statement.args.kw_defaults if default is not None)
    elif isinstance(statement, ast.ClassDef):
        yield from (*statement.bases, *(keyword.value for keyword in statement.keywords), *statement.decorator_list)
    elif isinstance(statement, ast.AnnAssign):
        yield statement.target
        if statement.value is not None:
            yield statement.value
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        for item in statement.items:
            yield item.context_expr
            if item.optional_vars is not None:
                yield item.optional_vars
    elif isinstance(statement, ast.stmt):
        yield from (node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.expr))
    elif isinstance(statement, ast.match_case) and statement.guard is not None:
        yield statement.guard


def _is_passed(expression: ast.expr, names: set[str], others: Collection[str], *, passed: bool) -> bool:
    """Whether history begins nowhere in an expression, or only where the machine was, if it has `passed` the whole."""
    pending: list[tuple[ast.AST, bool]] = [(expression, passed)]
    while pending:
        node, sure = pending.pop()
        if isinstance(node, ast.Name):
            if node.id in names and not sure:
                return False
            continue
        if isinstance(node, ast.Attribute):
            word = node.attr
            if word == "requires_grad" and not isinstance(node.ctx, ast.Load):
                return False  # it depends on the value
            if word == "requires_grad_" or ((word in SAYING or word in CLASSES) and not sure):
                return False
            owner: ast.expr = node.value
            while isinstance(owner, ast.Attribute) and owner.attr == "nn":
                owner = owner.value
            if not isinstance(owner, ast.Name):
                pending.append((owner, sure))
            elif owner.id in others and not sure:
                return False
            continue
        if isinstance(node, ast.Constant):
            if node.value == "requires_grad":
                return False
            continue
        if isinstance(node, ast.keyword) and node.arg == "requires_grad":
            if not isinstance(node.value, ast.Constant):
                return False
            if node.value.value is not False and not sure:
                return False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TESTS:
            pending += ((argument, sure) for argument in node.args[:1])
            continue
        first = _first(node) if isinstance(node, _CONDITIONAL) else None
        for child in ast.iter_child_nodes(node):
            pending.append((child, sure and (first is None or child is first)))
    return True


def _first(node: ast.AST) -> ast.AST:
    """What is evaluated in any case of an expression that may skip the rest."""
    if isinstance(node, ast.IfExp):
        return node.test
    if isinstance(node, ast.BoolOp):
        return node.values[0]
    return node  # nothing
