"""The `if` that decides whether a value is made, or taken from where it was kept."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from autodetach.machine.children import targets_of
from autodetach.machine.spelling import last_word, spelled
from autodetach.view.program import Block, Program, text

if TYPE_CHECKING:
    from autodetach.codemods import Codemod


TIGHT = (ast.Name, ast.Attribute, ast.Call, ast.Compare, ast.UnaryOp)
"""What needs no parentheses between `and`."""


def guards(program: Program, places: Iterable[ast.AST]) -> Iterator[ast.If]:
    """Of all that stands around the making of a value, and before it in the same blocks, what a cache asks.

    `if x is None: x = ...` around it, or `if x is not None: return x` before it; also `if self.stale: self.compute()`
    where the function that is called clears the flag. `places` go from the inside out.
    """
    called: Block = []
    for place in places:
        if isinstance(place, ast.If) and not place.orelse:
            body = [*place.body, *called]
            if _keeps(body) and _asks(place.test, body):
                yield place
        if isinstance(place, ast.FunctionDef):
            called = [*called, *place.body]
        if isinstance(place, ast.stmt):
            block = program.block(place)
            at = block.index(place) if place in block else 0
            for n, before in enumerate(block[:at]):
                if isinstance(before, ast.If) and _is_early_return(before, block[n + 1 :]):
                    yield before


def is_flag(test: ast.expr) -> bool:
    """Whether a guard asks for an attribute that is true or false: `not self.begun`, `self.begun is False`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_flag(test.operand)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(is_flag(t) for t in test.values)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        right = test.comparators[0]
        return isinstance(right, ast.Constant) and isinstance(right.value, bool) and is_flag(test.left)
    return isinstance(test, ast.Attribute)


def without_guard(guard: ast.If) -> Codemod:
    """Make the value whenever it is asked for; what else is asked (`if self.training and x is None`) stays."""
    from autodetach.codemods.drop_guard import DropGuard
    from autodetach.codemods.replace_expression import ReplaceExpression
    from autodetach.codemods.replace_statement import ReplaceStatement

    if _is_return(guard.body, bare=True):
        return ReplaceStatement(guard, "")
    if isinstance(guard.test, ast.BoolOp) and isinstance(guard.test.op, ast.And):
        rest = [test for test in guard.test.values if not _asks(test, guard.body)]
        if rest:
            written = [text(t) if isinstance(t, TIGHT) or len(rest) == 1 else f"({text(t)})" for t in rest]
            return ReplaceExpression(guard.test, " and ".join(written))
    return DropGuard(guard)


def _keeps(body: Block) -> bool:
    """Whether a block keeps a value, by an attribute or a key."""
    return any(isinstance(t, (ast.Attribute, ast.Subscript)) for s in body for t in targets_of(s))


def _is_return(body: Block, *, bare: bool = False) -> bool:
    return len(body) == 1 and isinstance(body[0], ast.Return) and (bare or body[0].value is not None)


def _is_early_return(statement: ast.If, behind: Block) -> bool:
    """`if x is not None: return x`, with what sets `x` behind it, or only `return`, if what is kept is set there."""
    if statement.orelse or not _is_return(statement.body, bare=_keeps(behind)):
        return False
    return _asks(statement.test, behind, presence=True)


def _asks(test: ast.expr, body: Block, *, presence: bool = False) -> bool:
    """Whether a test tells that what `body` sets is not kept yet, or with `presence` that it is."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _asks(test.operand, body, presence=not presence)
    if isinstance(test, ast.BoolOp):
        is_enough = isinstance(test.op, ast.And) or not presence
        return (any if is_enough else all)(_asks(t, body, presence=presence) for t in test.values)
    if isinstance(test, ast.Call):
        return presence and last_word(test.func) == "hasattr"
    if isinstance(test, (ast.Name, ast.Attribute)):
        return _is_set(test, body) if presence else _is_cleared(test, body)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    left, op, right = test.left, test.ops[0], test.comparators[0]
    if isinstance(op, (ast.In, ast.NotIn)):
        return isinstance(op, ast.In) is presence
    if isinstance(right, ast.Constant) and right.value is None:
        is_looked_up = isinstance(left, ast.Call) and last_word(left.func) in ("get", "getattr")
        is_asked = isinstance(op, (ast.IsNot, ast.NotEq) if presence else (ast.Is, ast.Eq))
        return is_asked and (is_looked_up or _is_set(left, body))
    if isinstance(right, ast.Constant) and isinstance(right.value, bool) and isinstance(op, (ast.Is, ast.Eq)):
        return _asks(left, body, presence=presence is right.value)
    if isinstance(left, ast.Call) and last_word(left.func) == "len" and left.args:
        is_empty = isinstance(op, ast.Eq) and isinstance(right, ast.Constant) and right.value == 0
        return is_empty and not presence and _is_set(left.args[0], body)
    return False


def _is_set(variable: ast.expr, body: Block) -> bool:
    """Whether a block sets a variable, or one of its elements."""
    name = spelled(variable)
    targets = [t for s in body for n in ast.walk(s) if isinstance(n, ast.stmt) for t in targets_of(n)]
    return any(name == spelled(t.value if isinstance(t, ast.Subscript) else t) for t in targets)


def _is_cleared(flag: ast.expr, body: Block) -> bool:
    """Whether a block sets a flag to False."""
    name = spelled(flag)
    written = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Assign) and spelled(n.value) == "False"]
    return any(name == spelled(target) for n in written for target in n.targets)
