"""The children of a node of a syntax tree, without those that have nothing in them: faster than `ast` finds them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from autodetach.kept import kept

_NO_NODES = frozenset(
    """
    ctx op ops name id attr arg asname module level kind type_comment simple is_async conversion rest kwd_attrs
    """.split()
)
"""Fields that have texts or numbers, and contexts and operators, which are nodes without anything in them."""
_BLOCKS = ("body", "orelse", "finalbody")
_WITH_NONE = frozenset({"keys", "kw_defaults"})
"""Fields that are lists some of whose elements may be missing."""
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = dict.fromkeys(
    (ast.Global, ast.Nonlocal, ast.Constant, ast.MatchSingleton), ()
)


def children_of(node: ast.AST) -> list[ast.AST]:
    """Expressions, statements and their parts that stand in a node, in the order of its fields."""
    kind = type(node)
    found: list[ast.AST] = []
    for name in _FIELDS[kind] if kind in _FIELDS else _fields_of(kind):
        value = getattr(node, name, None)
        if type(value) is list:
            found += value if name not in _WITH_NONE else (child for child in value if child is not None)
        elif value is not None:
            found.append(value)
    return found


def nodes_in(tree: ast.AST) -> Iterator[ast.AST]:
    """A node and all in it, in no order that is told."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        kind = type(node)
        if kind is not ast.Name and kind is not ast.Constant:
            pending += children_of(node)


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """A node and all in it, what stands further out first; of a file, one of its statements after the other.

    Found once, for what is looked through again and again, functions, and for a file once for each of its statements:
    an edited program has most of them in common.
    """
    if type(tree) is ast.Module:
        return chain((tree,), chain.from_iterable(map(walk, tree.body)))
    return chain((tree,), _inside(tree))


@kept
def _inside(tree: ast.AST) -> list[ast.AST]:
    """What is in a node, without itself: a cycle would stay until one is looked for."""
    found = children_of(tree)
    for node in found:  # which grows
        kind = type(node)
        if kind is not ast.Name and kind is not ast.Constant:
            found += children_of(node)
    return found


def stands_in(node: ast.AST | None, outer: ast.AST) -> bool:
    """Whether a node is another one, or is in it."""
    return any(inner is node for inner in nodes_in(outer))


def blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a node, those of its handlers and cases, too, without those that stand in them again."""
    for holder in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        for name in _BLOCKS:
            block = getattr(holder, name, None)
            if isinstance(block, list) and block:
                yield block


def statement_with(tree: ast.Module, node: ast.AST) -> ast.stmt | None:
    """The innermost statement of a file in which a node stands."""
    for outer in tree.body:
        if outer is node:
            return outer
        inside = _innermost(outer)
        if node in inside:
            return inside[node] or outer
    return None


@kept
def _innermost(outer: ast.stmt) -> dict[ast.AST, ast.stmt | None]:
    """The innermost statement of each node in a statement; none is that itself: it would be a cycle."""
    found: dict[ast.AST, ast.stmt | None] = {}
    pending: list[tuple[ast.AST, ast.stmt | None]] = [(child, None) for child in children_of(outer)]
    for node, owner in pending:  # which grows
        found[node] = at = node if isinstance(node, ast.stmt) else owner
        pending += ((child, at) for child in children_of(node))
    return found


def statements_in(node: ast.AST) -> list[ast.stmt]:
    """The statements of the blocks of a node, without those that stand in them again."""
    found: list[ast.stmt] = []
    for name in _BLOCKS:
        found += getattr(node, name, ())
    for holder in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        found += holder.body
    return found


def _fields_of(kind: type[ast.AST]) -> tuple[str, ...]:
    fields = _FIELDS[kind] = tuple(name for name in kind._fields if name not in _NO_NODES)
    return fields


def targets_of(statement: ast.stmt) -> list[ast.expr]:
    """What an assignment binds."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        return [statement.target]
    return []
