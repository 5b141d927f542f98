"""Which names a program binds, and what is bound to something that is made of others, as they are written."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.machine.children import nodes_in, targets_of
from autodetach.machine.spelling import spelled

Names = set[str]
NAMED = (ast.Name, ast.Attribute)


def names_of(target: ast.expr) -> Names:
    """The names of what is bound, or of which an element is; an attribute goes by its own name, too, as `.total`."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return {name for each in target.elts for name in names_of(each)}
    if isinstance(target, (ast.Subscript, ast.Starred)):
        return names_of(target.value)
    if isinstance(target, ast.Attribute):
        return {spelled(target), f".{target.attr}"}
    return {target.id} if isinstance(target, ast.Name) else set()


def bound_by(statement: ast.AST) -> Names:
    """The names, attributes, and containers of elements that a statement sets."""
    stored = (n for n in nodes_in(statement) if isinstance(n, (*NAMED, ast.Subscript)))
    return {name for n in stored if isinstance(n.ctx, ast.Store) for name in names_of(n)}


def read_in(expressions: Iterable[ast.AST]) -> Names:
    """The names and attributes that expressions read."""
    nodes = (n for expression in expressions for n in nodes_in(expression))
    return {name for n in nodes if isinstance(n, NAMED) for name in names_of(n)}


def made_of(names: Names, around: ast.AST) -> Names:
    """Some names, and those that are bound to something in which one of them is read, in a loop or function."""
    bindings = list(_bindings(around))
    found, size = set(names), 0
    while size < len(found):
        size = len(found)
        for targets, read in bindings:
            if not found.isdisjoint(read):
                found |= targets
    return found


def _bindings(around: ast.AST) -> Iterator[tuple[Names, Names]]:
    for node in nodes_in(around):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None:
            yield {name for target in targets_of(node) for name in names_of(target)}, read_in([node.value])
        elif isinstance(node, ast.NamedExpr):
            yield names_of(node.target), read_in([node.value])
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield names_of(node.target), read_in([node.iter])
        elif isinstance(node, ast.Match):
            patterns = (n for case in node.cases for n in nodes_in(case.pattern))
            captured = {str(name) for n in patterns if (name := getattr(n, "name", None)) is not None}
            yield captured, read_in([node.subject])


def result_of(statement: ast.stmt | ast.Lambda) -> set[ast.expr]:
    """The expressions one of which may be what a statement binds, or returns, as a lambda does."""
    value = statement.body if isinstance(statement, ast.Lambda) else getattr(statement, "value", None)
    found = [value] if isinstance(value, ast.expr) and not isinstance(statement, ast.Expr) else []
    for node in found:  # which grows
        found += _results_in(node)
    return set(found)


def _results_in(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.IfExp):
        return [node.body, node.orelse]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, (ast.Tuple, ast.List)):
        return node.elts
    return [node.value] if isinstance(node, (ast.NamedExpr, ast.Starred, ast.Subscript, ast.Await)) else []
