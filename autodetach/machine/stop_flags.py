"""What ends a `while` loop by setting what its test asks for, `done = True`, and what ends a program, by its name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from autodetach.machine.spelling import spelled

ALIKE = (ast.Eq, ast.Is)
APART = (ast.NotEq, ast.IsNot)
ENDING = ("exit", "quit", "abort", "die", "error", "fail", "usage")
"""What a function that ends the program is called."""


def ends_loop(body: Iterable[ast.stmt], loop: ast.AST | None) -> bool:
    """Whether a block sets a variable, to a constant or a member of a class, so that no pass of a loop follows."""
    if not isinstance(loop, ast.While):
        return False
    assigned = [s for s in body if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)]
    return any(_is_false_with(loop.test, spelled(s.targets[0]), s.value) for s in assigned)


def ends_program(block: Sequence[ast.stmt]) -> bool:
    """Whether the last call of a block ends the program, by its name: `sys.exit(1)`, `parser.error(...)`, `usage()`."""
    last = block[-1] if block else None
    if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call):
        return False
    name = spelled(last.value.func).rpartition(".")[2].lower()
    return any(word in name for word in ENDING)


def _is_false_with(test: ast.expr, name: str, value: ast.expr) -> bool:
    """Whether a test is certainly false, as far as its text tells, where a variable has a value."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_is_false_with(part, name, value) for part in test.values)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and spelled(test.left) == name:
        right = test.comparators[0]
        if not (_is_fixed(value) and _is_fixed(right)):
            return False
        same = spelled(value) == spelled(right)
        return not same if isinstance(test.ops[0], ALIKE) else same and isinstance(test.ops[0], APART)
    wanted = not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))
    asked = test if wanted or not isinstance(test, ast.UnaryOp) else test.operand
    return spelled(asked) == name and isinstance(value, ast.Constant) and bool(value.value) is not wanted


def _is_fixed(value: ast.expr) -> bool:
    """A constant, or a member of a class: `Status.RUNNING`."""
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name))
