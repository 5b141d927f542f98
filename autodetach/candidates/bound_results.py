"""What a call of `detach()` returns, and a statement drops, is bound to what it was called of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.bound_parts import bound_parts, detaching_loop
from autodetach.candidates.reads import Repair
from autodetach.machine.spelling import spelled
from autodetach.view.program import Program, listed, text

if TYPE_CHECKING:
    from autodetach.codemods import Codemod


def owners_of(dropped: ast.expr) -> tuple[ast.expr, ...]:
    """`h` of `h.detach()`, `h` and `c` of `h.detach(), c.detach()`, `hs` of `[h.detach() for h in hs]`."""
    if isinstance(dropped, ast.Call) and isinstance(dropped.func, ast.Attribute):
        return (dropped.func.value,)
    if isinstance(dropped, ast.Tuple):
        return tuple(o for part in dropped.elts for o in owners_of(part))
    if isinstance(dropped, ast.ListComp):
        return (dropped.generators[0].iter,)
    return ()


def bound_results(program: Program, statement: ast.Expr, respelled: tuple[Codemod, ...] = ()) -> Iterator[Repair]:
    """Bind what a statement drops to what its calls are called of; `respelled` is what has to be written otherwise.

    A loop that does nothing else is made statements that bind all that it runs through.
    """
    from autodetach.codemods.assign_result import AssignResult

    owners = owners_of(statement.value)
    shown = listed(owners)
    alone = detaching_loop(program, statement)
    if alone is not None and text(owners[0]) == spelled(alone[0].target):
        yield from bound_parts(program, *alone)
        return
    bound_by_loop = {
        name
        for at in program.enclosing(statement)
        if isinstance(at, (ast.For, ast.AsyncFor))
        for name in program.names_bound(at.target)
    }
    if any(isinstance(o, ast.Name) and o.id in bound_by_loop for o in owners):
        return  # rebinding the variable of the loop would be dropped too
    if owners and all(isinstance(o, (ast.Name, ast.Attribute, ast.Subscript)) for o in owners):
        yield f"bind the result to {shown}", (AssignResult(statement, owners), *respelled)
