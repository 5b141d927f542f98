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
