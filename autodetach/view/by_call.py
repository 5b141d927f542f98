"""What one call differentiates, time after time."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from autodetach.machine.graph import Differentiation
from autodetach.machine.run import Run
from autodetach.once import once


def at_call(run: Run, call: ast.AST) -> Sequence[Differentiation]:
    """The differentiations of a run that a call asks for, in their order."""
    return _by_call(run).get(call, ())


@once
def _by_call(run: Run) -> dict[ast.AST, list[Differentiation]]:
    found: dict[ast.AST, list[Differentiation]] = {}
    for d in run.machine.differentiations:
        found.setdefault(d.call, []).append(d)
    return found
