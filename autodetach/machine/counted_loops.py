"""`while` loops that count, as `while len(found) < size:` or `while step < steps:`: they go as far as a range does."""

from __future__ import annotations

import ast
from typing import NamedTuple

from autodetach.kept import kept
from autodetach.machine.children import walk
from autodetach.machine.spelling import spelled

UPWARDS = (ast.Lt, ast.LtE)
DOWNWARDS = (ast.Gt, ast.GtE)
READ = (ast.Name, ast.Attribute, ast.Constant)
"""What may be read once more than the program does."""
FILLS = frozenset({"add", "append"})


class Counted(NamedTuple):
    """What is compared with a limit in front of each pass, and by how much a pass changes it."""

    counter: ast.expr
    limit: ast.expr
    step: int


@kept
def counted(loop: ast.While) -> Counted | None:
    """How a loop counts, if its test asks whether it has come to its limit, alone or with other conditions."""
    is_joined = isinstance(loop.test, ast.BoolOp) and isinstance(loop.test.op, ast.And)
    for test in loop.test.values if is_joined and isinstance(loop.test, ast.BoolOp) else [loop.test]:
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            continue
        left, op, right = test.left, test.ops[0], test.comparators[0]
        for counter, limit, is_up in ((left, right, UPWARDS), (right, left, DOWNWARDS)):
            if not isinstance(limit, READ):
                continue
            step = _step(loop, counter)
            if isinstance(op, UPWARDS + DOWNWARDS) and step and isinstance(op, is_up) == (step > 0):
                return Counted(counter, limit, step)
    return None


def _step(loop: ast.While, counter: ast.expr) -> int:
    """By how much each pass changes a name, an attribute, or the length of what it fills; 0 where it does not."""
    inside = [node for statement in loop.body for node in walk(statement)]
    if isinstance(counter, ast.Call):
        filled = spelled(counter.args[0]) if spelled(counter.func) == "len" and len(counter.args) == 1 else ""
        calls = (n.func for n in inside if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute))
        return int(bool(filled) and any(f.attr in FILLS and spelled(f.value) == filled for f in calls))
    if not isinstance(counter, (ast.Name, ast.Attribute)):
        return 0
    name = spelled(counter)
    changes = [n for n in inside if isinstance(n, ast.AugAssign) and spelled(n.target) == name]
    if len(changes) != 1 or not isinstance(changes[0].value, ast.Constant) or type(changes[0].value.value) is not int:
        return 0
    by = changes[0].value.value
    return by if isinstance(changes[0].op, ast.Add) else -by if isinstance(changes[0].op, ast.Sub) else 0
