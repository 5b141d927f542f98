"""`type(h) == Variable`, by which a helper knows what to detach, is true of no tensor: `isinstance(h, Variable)` is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from autodetach.candidates.reads import Repair
from autodetach.machine.old_types import are_new
from autodetach.machine.run import Run
from autodetach.view.program import text


def asked_by_instance(run: Run) -> Iterator[Repair]:
    """All such tests at once, for one that is left would leave a state as it is."""
    from autodetach.codemods.replace_expression import ReplaceExpression

    if not are_new(run.machine.oracle):
        return
    tests = dict.fromkeys(node for node, _ in run.machine.old_tests)
    written = [(test, new) for test in tests if isinstance(test, ast.Compare) and (new := _by_instance(test))]
    if written:
        shown = ", ".join(f"`{new}`" for new in dict.fromkeys(new for _, new in written))
        repair = tuple(ReplaceExpression(test, new) for test, new in written)
        yield f"ask {shown}: `Variable` is the type of no tensor any more", repair


def _by_instance(test: ast.Compare) -> str | None:
    """`isinstance(h, Variable)` for `type(h) == Variable`, on whichever side."""
    if len(test.ops) != 1:
        return None
    left, right = test.left, test.comparators[0]
    asked, cls = (left, right) if _is_type(left) else (right, left)
    if not _is_type(asked) or not isinstance(cls, (ast.Name, ast.Attribute)):
        return None
    sign = "" if isinstance(test.ops[0], (ast.Eq, ast.Is)) else "not "
    return f"{sign}isinstance({text(asked.args[0])}, {text(cls)})"


def _is_type(node: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"
