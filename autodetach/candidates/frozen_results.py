"""What a program means to freeze by a flag that only leaves have is detached: PyTorch raises there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.machine.tensors import OF_LEAVES
from autodetach.suspect import Candidate
from autodetach.view.program import Program, listed

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

HELD = (ast.Name, ast.Attribute, ast.Subscript)


def frozen_results(program: Program, run: Run) -> Iterator[Candidate]:
    """`weights = [w.detach() for w in weights]` instead of `for w in weights: w.requires_grad = False`."""
    places = dict.fromkeys(f.site.node for f in run.machine.type_faults if f.kind == OF_LEAVES)
    found = [_detached(program, place) for place in places]
    if found and None not in found:
        pairs = [pair for pair in found if pair is not None]
        shown = listed(held for held, _ in pairs)
        yield Candidate(
            f"detach {shown}: only of leaves the flag may change", tuple(change for _, change in pairs), cuts=True
        )


def _detached(program: Program, place: ast.AST) -> tuple[ast.expr, Codemod] | None:
    """What the flag is meant to freeze, and how it is detached."""
    from autodetach.codemods.replace_expression import ReplaceExpression
    from autodetach.codemods.replace_statement import ReplaceStatement

    statement = program.statement(place)
    frozen = _frozen(place)
    if frozen is None or statement is None:
        return None
    if isinstance(place, ast.Call) and not isinstance(program.parents.get(place), ast.Expr):
        return frozen, ReplaceExpression(place, f"{spelled(frozen)}.detach()")
    around = program.parents.get(statement)
    if isinstance(around, (ast.For, ast.AsyncFor)) and spelled(around.target) == spelled(frozen):
        made = _all_detached(around.iter, spelled(frozen))
        if made is None or around.orelse or len(around.body) > 1:
            return None
        return around.iter, ReplaceStatement(around, made)
    if isinstance(frozen, HELD):
        return frozen, ReplaceStatement(statement, f"{spelled(frozen)} = {spelled(frozen)}.detach()")
    return None


def _all_detached(every: ast.expr, one: str) -> str | None:
    """The assignment that detaches all of a list, or of what a dict holds, which a loop goes through."""
    if isinstance(every, HELD):
        return f"{spelled(every)} = [{one}.detach() for {one} in {spelled(every)}]"
    func = every.func if isinstance(every, ast.Call) and not every.args else None
    if isinstance(func, ast.Attribute) and func.attr == "values" and isinstance(func.value, HELD):
        held, key = spelled(func.value), "key" if one == "k" else "k"
        return f"{held} = {{{key}: {one}.detach() for {key}, {one} in {held}.items()}}"
    return None


def _frozen(place: ast.AST) -> ast.expr | None:
    """`w` of `w.requires_grad = False` and `w.requires_grad_(False)`."""
    if isinstance(place, ast.Assign) and len(place.targets) == 1 and isinstance(place.targets[0], ast.Attribute):
        return place.targets[0].value
    if isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute):
        return place.func.value
    return place.value if isinstance(place, ast.Attribute) else None
