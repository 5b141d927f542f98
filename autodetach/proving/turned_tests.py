"""Tests turned by the settings that they ask for: which constants of a program to write otherwise, and how."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from autodetach.machine.last_pass import MIRRORED
from autodetach.named_tuples import NamedTuple

if TYPE_CHECKING:
    from autodetach.proving.written_settings import Written

OPPOSITE = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ALIKE = (ast.Eq, ast.NotEq)
Constant = bool | int | float | str | None
TESTS = (ast.Compare, ast.BoolOp, ast.UnaryOp)
DEEP = 4
"""Names of tests that lead to one another."""


class Change(NamedTuple):
    """A constant of the program, or a name, and what is written in its place."""

    constant: ast.expr
    text: str


def changes_for(written: Written, test: ast.expr, truth: bool, depth: int = DEEP) -> tuple[Change, ...]:
    """What has a test go this way; nothing where that is not for settings to say."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return changes_for(written, test.operand, not truth, depth)
    if isinstance(test, ast.BoolOp):
        parts = [changes_for(written, part, truth, depth) for part in test.values]
        if isinstance(test.op, ast.And) is truth:
            return tuple(dict.fromkeys(change for part in parts for change in part))
        return next((part for part in parts if part), ())
    if isinstance(test, ast.Compare):
        return _for_comparison(written, test, truth) if len(test.ops) == 1 else ()
    named = [value for value in written.values(test) if isinstance(value, TESTS)] if depth else []
    if named:
        return tuple(change for value in named for change in changes_for(written, value, truth, depth - 1))
    return _written_otherwise(written, test, lambda value: _true_or_false(value, truth))


def _for_comparison(written: Written, test: ast.Compare, truth: bool) -> tuple[Change, ...]:
    from autodetach.proving.written_settings import PLAIN

    left, right, sign = test.left, test.comparators[0], type(test.ops[0])
    wanted = sign if truth else OPPOSITE[sign]
    if wanted is ast.In and isinstance(left, ast.Constant):
        return _with_another(written, left, right)
    if isinstance(left, ast.Constant):
        if wanted not in MIRRORED and wanted not in ALIKE:
            return ()
        left, right, wanted = right, left, MIRRORED.get(wanted, wanted)
    if wanted in (ast.In, ast.NotIn) and isinstance(right, (ast.Tuple, ast.List, ast.Set)):
        others = [one.value for one in right.elts if isinstance(one, ast.Constant)]
    else:
        others = [one.value for one in written.constants(right)]
    found = [other for other in others if isinstance(other, PLAIN)]
    if not found:
        return ()
    return _written_otherwise(written, left, lambda value: _compared(value, wanted, found))


def _with_another(written: Written, one: ast.Constant, place: ast.expr) -> tuple[Change, ...]:
    """`"aux" in TERMS`: a list that is written in the program gets another element."""
    values = written.values(place)
    if len(values) != 1 or not isinstance(values[0], (ast.List, ast.Tuple, ast.Set)):
        return ()
    elements = values[0].elts
    if any(not isinstance(e, ast.Constant) or e.value == one.value for e in elements):
        return ()
    return (Change(values[0], f"[*{{}}, {one.value!r}]"),)


def _written_otherwise(written: Written, place: ast.expr, other: Callable[[Constant], Constant]) -> tuple[Change, ...]:
    from autodetach.proving.written_settings import PLAIN

    if isinstance(place, ast.Constant):
        return ()
    constants = written.constants(place)
    changes = (
        Change(one, repr(new))
        for one in constants
        if isinstance(one.value, PLAIN) and (new := other(one.value)) != one.value
    )
    return tuple(changes)


def _true_or_false(value: Constant, truth: bool) -> Constant:
    """What is taken for true, or for false, and is of the same type."""
    if bool(value) is truth:
        return value
    if isinstance(value, bool):
        return truth
    if value is None:
        return 1.0
    if isinstance(value, str):
        return value  # what else it may be is not known
    if isinstance(value, int):
        return int(truth)
    return 0.1 if truth else 0.0


def _compared(value: Constant, sign: type[ast.cmpop], others: list[Constant]) -> Constant:
    """What is compared so with another value, and is of the same type."""
    other = others[0]
    if other is None and sign in (ast.Eq, ast.Is):
        return value  # what is there is rather left out by who calls it
    if sign in (ast.Eq, ast.Is, ast.In):
        return value if value in others else other
    if sign in (ast.NotEq, ast.IsNot, ast.NotIn):
        if value not in others:
            return value
        if isinstance(value, bool):
            return not value
        if value is None:
            return 1.0
        return f"not {value}" if isinstance(value, str) else value + 1
    if isinstance(value, (str, type(None))) or isinstance(other, (str, type(None))):
        return value
    step = 0.1 if isinstance(value, float) else 1
    if sign is ast.Gt:
        return value if value > other else other + step
    if sign is ast.GtE:
        return value if value >= other else other
    if sign is ast.Lt:
        return value if value < other else other - step
    return value if value <= other else other
