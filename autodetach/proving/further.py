"""How far a program comes before an error ends it, compared with another program."""

from __future__ import annotations

import ast

from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled


def ended_further_on(before: Run, after: Run) -> list[ast.stmt]:
    """What ends when an error ends the second program, and stands, unchanged, where the first had not come to."""
    if before.stop is None or after.stop is None:
        return []
    every = {spelled(node) for node in ast.walk(before.stop.tree) if isinstance(node, ast.stmt)}
    left = every - {spelled(statement) for statement in before.stop.executed}
    return [statement for statement in after.stop.ended if spelled(statement) in left]


def is_hidden(node: ast.AST, before: Run, after: Run) -> bool:
    """Whether a fault at a node only comes to light, since the first program ends before it comes there."""
    return any(node is inner for statement in ended_further_on(before, after) for inner in ast.walk(statement))


def is_behind_end(node: ast.AST, before: Run, edited: ast.AST) -> bool:
    """Whether a node of an edited program stands in a simple statement that the first one, which ends, does not run."""
    reached = before.machine.executed if before.stop is None else before.stop.executed
    executed = {spelled(statement) for statement in reached}
    around = [s for s in ast.walk(edited) if isinstance(s, ast.stmt) and not hasattr(s, "body") and _has(s, node)]
    return bool(around) and all(spelled(statement) not in executed for statement in around)


def _has(statement: ast.stmt, node: ast.AST) -> bool:
    return any(inner is node for inner in ast.walk(statement))
