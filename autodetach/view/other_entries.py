"""What the machine enters by itself although the program calls it: only where a switch is set in another way."""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.graph import Differentiation
from autodetach.machine.program_values import Frame, Function
from autodetach.machine.spelling import names_called
from autodetach.machine.state import STRIDE
from autodetach.view.program import Program


def stand_in_for_each_other(program: Program, first: Differentiation, second: Differentiation) -> bool:
    """Whether two differentiations are of two entry points, one of which is called in view, where nothing leads.

    Where its switch is set so that it is called, the other one may not be: nothing says that both are, one behind the
    other.
    """
    if first.number // STRIDE == second.number // STRIDE:
        return False
    called = {name for tree in program.analysis.trees for name in _called_in(tree)}
    return any(_entry_of(d) in called for d in (first, second))


def is_called_on_another_path(program: Program, entry: str) -> bool:
    """Whether the program itself calls a function on some path: what that gives is in view, unlike what an entry is."""
    return any(entry in run.started for run in program.runs)


def begins_where_called(program: Program, d: Differentiation) -> bool:
    """Whether a differentiation was come to as the program comes to it: no function around was entered instead."""
    entered = {name for run in program.runs for name in run.entries if is_called_on_another_path(program, name)}
    function = entered_function(d)
    return function is None or function.qualname not in entered


def entered_function(d: Differentiation) -> Function | None:
    """The outermost function that was running."""
    frame = d.trail[0][1] if d.trail else None
    return frame.function if isinstance(frame, Frame) and isinstance(frame.function, Function) else None


def _entry_of(d: Differentiation) -> str:
    """The name of the function that was entered."""
    function = entered_function(d)
    return "" if function is None else function.name


@kept
def _called_in(tree: ast.AST) -> frozenset[str]:
    return frozenset(names_called(tree)) - {""}
