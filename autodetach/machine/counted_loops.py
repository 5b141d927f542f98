"""`while` loops that count, as `while len(found) < size:` or `while step < steps:`: they go as far as a range does."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.children import walk
from autodetach.machine.spelling import spelled
from autodetach.named_tuples import NamedTuple

UPWARDS = (ast.Lt, ast.LtE)
DOWNWARDS = (ast.Gt, ast.GtE)
AT_LEAST = (ast.Eq, ast.Gt, ast.GtE)
AT_MOST = (ast.Eq, ast.Lt, ast.LtE)
Ops = tuple[type[ast.cmpop], ...]
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
    """How a loop counts, if its test asks whether it has come to its limit, alone or with other conditions.

    So it does where it is left when it has come there, and for that alone: `while True:` with `if len(found) == size:
    break` in it. A limit beside other reasons to leave, `if done or len(found) > limit:`, only says when to give up.
    """
    is_joined = isinstance(loop.test, ast.BoolOp) and isinstance(loop.test.op, ast.And)
    for test in loop.test.values if is_joined and isinstance(loop.test, ast.BoolOp) else [loop.test]:
        found = _counting(loop.body, test, (UPWARDS, DOWNWARDS))
        if found is not None:
            return found
    for leaving, block in _exits(loop):
        found = _counting(loop.body, leaving.test, (AT_LEAST, AT_MOST))
        counts_here = found is not None and (block is loop.body or _step(block, found.counter))
        if found is not None and counts_here and not _is_bound_within(loop, found):
            return found
    return None


def _counting(body: list[ast.stmt], test: ast.expr, ways: tuple[Ops, Ops]) -> Counted | None:
    """What a test compares with a limit; `ways` are the operators of what counts up, and of what counts down."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, op, right = test.left, test.ops[0], test.comparators[0]
    upwards, downwards = ways
    for counter, limit, rising, falling in ((left, right, upwards, downwards), (right, left, downwards, upwards)):
        step = _step(body, counter) if isinstance(limit, READ) else 0
        if step and isinstance(op, rising if step > 0 else falling):
            return Counted(counter, limit, step)
    return None


def _exits(loop: ast.While) -> Iterator[tuple[ast.If, list[ast.stmt]]]:
    """The tests behind which the loop is left, each with the block that it stands in."""
    blocks = [loop.body]
    while blocks:
        block = blocks.pop()
        for statement in block:
            if isinstance(statement, ast.If):
                if isinstance(statement.body[-1], (ast.Break, ast.Return)):
                    yield statement, block
                blocks += [statement.body, statement.orelse]
            elif isinstance(statement, (ast.With, ast.AsyncWith)):
                blocks.append(statement.body)


def _is_bound_within(loop: ast.While, found: Counted) -> bool:
    """Whether what it counts, or its limit, begins anew in the loop: in front of it, nobody knows what it is."""
    counter = found.counter.args[0] if isinstance(found.counter, ast.Call) else None
    names = {spelled(each) for each in (counter, found.limit) if each is not None}
    inside = (node for statement in loop.body for node in walk(statement))
    return any(
        isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store) and spelled(node) in names
        for node in inside
    )


def _step(body: list[ast.stmt], counter: ast.expr) -> int:
    """By how much each pass changes a name, an attribute, or the length of what it fills; 0 where it does not."""
    inside = [node for statement in body for node in walk(statement)]
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
