"""Tests that are true in every pass of a loop but its last one: `if i != n - 1` in `for i in range(n)`."""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.counted_keys import counter_of
from autodetach.machine.delays import delay_of
from autodetach.machine.graph import Loops, Pass
from autodetach.machine.remainders import divided
from autodetach.machine.spelling import spelled

SIGNS = (ast.NotEq, ast.Lt)


def goes_on_after(test: ast.AST, loops: Loops) -> Pass | None:
    """The pass of whose loop a test asks whether another one follows."""
    asked = _counter_and_bound(test)
    if asked is None:
        return None
    counter, bound = asked
    for current in reversed(loops):
        loop = current.activation.node
        if isinstance(loop, ast.For) and counter_of(loop) == counter:
            return current if bound == _bound_of(loop) else None
    return None


def may_be_last(current: Pass, passes: int) -> bool:
    """Whether none follows of those that are executed, which are so many for most loops."""
    loop = current.activation.node
    is_usual = isinstance(loop, ast.For) and delay_of(loop) <= 1 and not current.activation.skipped
    return is_usual and current.index >= passes - 1


def _counter_and_bound(test: ast.AST) -> tuple[str, str] | None:
    """`i` and `n` of `i != n - 1`, `i + 1 < n` and `not i == n - 1`."""
    signs: tuple[type[ast.cmpop], ...] = SIGNS
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, signs = test.operand, (ast.Eq, ast.GtE)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], signs):
        return None
    left, right = test.left, test.comparators[0]
    if (inner := without_one(left, ast.Add)) is not None:
        return spelled(inner), spelled(right)
    if (inner := without_one(right, ast.Sub)) is not None:
        return spelled(left), spelled(inner)
    return None


@kept
def remainder_or_last(test: ast.AST) -> ast.expr | None:
    """`(i + 1) % k == 0` of `(i + 1) % k == 0 or i + 1 == n`, which also ends the part of a window at the end."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or) or len(test.values) != 2:
        return None
    for remainder, last in (test.values, test.values[::-1]):
        counter = _divided_by(remainder)
        asked = _counter_and_bound(ast.UnaryOp(ast.Not(), last)) if counter else None
        if asked is not None and asked[0] == counter:
            return remainder
    return None


def _divided_by(test: ast.expr) -> str:
    """The counter of `(i + 1) % k == 0`, and of `not i % k`."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        test = test.left
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    else:
        return ""
    asked = divided(test)
    return asked.counter if asked is not None else ""


def without_one(side: ast.expr, sign: type[ast.operator]) -> ast.expr | None:
    """`n` of `n - 1`, and of `n + 1`."""
    if not isinstance(side, ast.BinOp) or not isinstance(side.op, sign):
        return None
    return side.left if isinstance(side.right, ast.Constant) and side.right.value == 1 else None


def _bound_of(loop: ast.For) -> str:
    """`n` of `range(n)`, and `len(items)` of `enumerate(items)`; empty where it counts otherwise."""
    call = loop.iter
    if not isinstance(call, ast.Call) or call.keywords:
        return ""
    if spelled(call.func) == "enumerate" and len(call.args) == 1:
        return f"len({spelled(call.args[0])})"
    return spelled(call.args[-1]) if spelled(call.func) == "range" and len(call.args) in (1, 2) else ""
