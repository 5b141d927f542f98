"""The source of a line: its statement, its calls, its function, and the loops around it."""

from __future__ import annotations

import ast
import contextlib
import linecache
from collections.abc import Iterator

from autodetach.doctor.frames import Site
from autodetach.node_types import FUNCTIONS, LOOPS, FunctionNode

MAX_TREES = 64
_trees: dict[str, tuple[list[str], ast.Module | None]] = {}


def tree_of(path: str) -> ast.Module | None:
    """The syntax tree of a file, or of a cell; None where it cannot be read."""
    lines = linecache.getlines(path)
    known = _trees.get(path)
    if known is not None and known[0] is lines:
        return known[1]
    tree: ast.Module | None = None
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        tree = ast.parse("".join(lines)) if lines else None
    if len(_trees) >= MAX_TREES:
        _trees.clear()
    _trees[path] = lines, tree
    return tree


def walk(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int]]:
    """All nodes with the qualified name of their function and how many loops they stand in."""
    stack: list[tuple[ast.AST, str, int]] = [(tree, "", 0)]
    while stack:
        node, function, depth = stack.pop()
        yield node, function, depth
        if isinstance(node, LOOPS):
            depth += 1
        if isinstance(node, FUNCTIONS):
            function, depth = (f"{function}{node.name}" if function.endswith(".") else _inside(function, node.name)), 0
        elif isinstance(node, ast.ClassDef):
            function = f"{_inside(function, node.name)}."
        stack += [(child, function, depth) for child in ast.iter_child_nodes(node)]


def statement_at(site: Site) -> ast.stmt | None:
    """The innermost statement that the line is part of; of one with a body, the line is in its head."""
    found: ast.stmt | None = None
    for node, _, _ in _nodes(site.path):
        if isinstance(node, ast.stmt) and node.lineno <= site.line <= (node.end_lineno or node.lineno):
            body = getattr(node, "body", None)
            in_head = not isinstance(body, list) or not body or site.line < body[0].lineno
            if in_head and (found is None or node.lineno >= found.lineno):
                found = node
    return found


def calls_at(site: Site) -> list[ast.Call]:
    """The calls in the statement at a line, in its head if it has a body."""
    statement = statement_at(site)
    if statement is None:
        return []
    bodies = {id(each) for name in ("body", "orelse", "finalbody", "handlers") for each in _list(statement, name)}
    stack: list[ast.AST] = [statement]
    found: list[ast.Call] = []
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call):
            found.append(node)
        stack += [child for child in ast.iter_child_nodes(node) if id(child) not in bodies]
    return found


def function_at(site: Site) -> FunctionNode | None:
    """The innermost function that the line is in."""
    found: FunctionNode | None = None
    for node, _, _ in _nodes(site.path):
        if isinstance(node, FUNCTIONS) and node.lineno <= site.line <= (node.end_lineno or node.lineno):
            found = node if found is None or node.lineno > found.lineno else found
    return found


def _nodes(path: str) -> Iterator[tuple[ast.AST, str, int]]:
    tree = tree_of(path)
    return walk(tree) if tree is not None else iter(())


def _list(node: ast.AST, name: str) -> list[ast.AST]:
    value = getattr(node, name, None)
    return value if isinstance(value, list) else []


def _inside(function: str, name: str) -> str:
    if not function or function.endswith("."):
        return f"{function}{name}"
    return f"{function}.<locals>.{name}"
