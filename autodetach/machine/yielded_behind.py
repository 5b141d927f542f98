"""Which generators yield again and again, and something else behind that: a text or a summary behind the losses."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.kept import kept
from autodetach.machine.children import blocks_of, children_of, nodes_in
from autodetach.machine.exceptions import TRY
from autodetach.machine.generators import yields
from autodetach.machine.spelling import called_name, spelled
from autodetach.node_types import LOOPS, SCOPES, YIELDS

Kinds = frozenset[object]
"""What is yielded, as far as its text tells: calls of the same function give the same kind of thing."""

_ELSE: Kinds = frozenset({"something else"})
TYPE_TESTS = ("isinstance", "is_tensor", "hasattr")
_ENDING = (ast.Return, ast.Raise)


@kept
def goes_on_behind(node: ast.AST) -> bool:
    """Whether a generator yields in a loop, and something of another kind behind that, or where it leaves the loop."""
    body = getattr(node, "body", None)
    return isinstance(body, list) and _after(body, frozenset()) >= _ELSE


@kept
def hands_on(node: ast.AST) -> bool:
    """Whether a `yield from`, or a loop, yields what it goes over as it is, or with other things."""
    if isinstance(node, ast.YieldFrom):
        return True
    if not isinstance(node, (ast.For, ast.AsyncFor)):
        return False
    names = {n.id for n in nodes_in(node.target) if isinstance(n, ast.Name)}
    given = [y.value.elts if isinstance(y.value, ast.Tuple) else [y.value] for y in _yields_in(node.body)]
    if not any(isinstance(each, ast.Name) and each.id in names for several in given for each in several):
        return False
    calls = (n for statement in node.body for n in nodes_in(statement) if isinstance(n, ast.Call))
    return not any(called_name(call) in TYPE_TESTS for call in calls)


def _after(block: list[ast.stmt], before: Kinds) -> Kinds:
    """What has been yielded any number of times behind a block, and `_ELSE` if it goes on otherwise in the block."""
    for statement in block:
        if yields(statement):
            before = _after_statement(statement, before)
    return before


def _after_statement(statement: ast.stmt, before: Kinds) -> Kinds:
    if isinstance(statement, LOOPS):
        inside = _after(statement.body, before)
        last = _kinds(node for block in _blocks_in(statement.body) for node in _last_in(block, (*_ENDING, ast.Break)))
        repeated = _kinds(_yields_in(statement.body))
        after = inside | (repeated - last or repeated)
        return _after(statement.orelse, after | _ELSE if last and repeated - last else after)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return _after(statement.body, before)
    if isinstance(statement, TRY):
        inside = _after(statement.body, before)
        after = _after(statement.orelse, inside)
        return _after(statement.finalbody, after.union(*(_after(h.body, inside) for h in statement.handlers)))
    blocks = list(blocks_of(statement))
    if blocks:
        return before.union(*(_after(block, before) for block in blocks))
    for node in _yields_in([statement]):
        kind = _kind(node)
        if before - {kind}:
            before |= _ELSE
        if isinstance(node, ast.YieldFrom):
            before |= {kind}
    return before


def _last_in(block: list[ast.stmt], jumps: tuple[type[ast.stmt], ...]) -> Iterator[ast.AST]:
    """What is yielded in a block that is left by such a jump at its end, and in those in it."""
    if block and isinstance(block[-1], jumps):
        yield from _yields_in(block)
    for statement in block:
        if yields(statement):
            for inner in blocks_of(statement):
                yield from _last_in(inner, _ENDING if isinstance(statement, LOOPS) else jumps)


def _blocks_in(block: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """The blocks of the statements of a block that are no loops."""
    for statement in block:
        if not isinstance(statement, LOOPS) and yields(statement):
            yield from blocks_of(statement)


def _yields_in(nodes: Iterable[ast.AST]) -> Iterator[ast.Yield | ast.YieldFrom]:
    for node in nodes:
        if isinstance(node, YIELDS):
            yield node
        if not isinstance(node, SCOPES):
            yield from _yields_in(children_of(node))


def _kinds(nodes: Iterable[ast.AST]) -> Kinds:
    return frozenset(map(_kind, nodes))


def _kind(node: ast.AST | None) -> object:
    if isinstance(node, YIELDS):
        return (isinstance(node, ast.YieldFrom), _kind(node.value))
    if isinstance(node, ast.Call):
        return ("call", spelled(node.func))
    if isinstance(node, ast.Tuple):
        return tuple(map(_kind, node.elts))
    return spelled(node) if node is not None else "None"
