"""A state that a loop goes on from is cut where it begins, in front of the loop, and not in each of its passes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.node_types import LOOPS
from autodetach.view.program import Program


def bound_before_loop(program: Program, expressions: Iterable[ast.expr]) -> list[ast.expr]:
    """What names that a loop binds anew are given in front of it: `posts[-1]` of `state = posts[-1]`; empty if none.

    Other expressions stay what they are.
    """
    given = {e: _value_before(program, e) for e in expressions}
    return [value or e for e, value in given.items()] if any(given.values()) else []


def _value_before(program: Program, name: ast.expr) -> ast.expr | None:
    if not isinstance(name, ast.Name):
        return None
    for loop in program.enclosing(name):
        if isinstance(loop, LOOPS) and any(name.id in program.names_bound(s) for s in loop.body):
            block = program.block(loop)
            bound = [s for s in block[: block.index(loop)] if name.id in program.names_bound(s)]
            last = bound[-1] if bound else None
            is_plain = isinstance(last, ast.Assign) and all(isinstance(t, ast.Name) for t in last.targets)
            return last.value if isinstance(last, ast.Assign) and is_plain else None
    return None
