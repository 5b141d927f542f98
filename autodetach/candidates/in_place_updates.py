"""What is done about updates `w = w - lr * w.grad`: `w` is changed in place, or becomes a new leaf."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from autodetach.candidates.new_leaves import as_leaf, of_last_rebinds
from autodetach.candidates.wanted_updates import doubt_of_cut
from autodetach.machine.children import walk
from autodetach.machine.spelling import spelled
from autodetach.node_types import LOOPS
from autodetach.suspect import Candidate
from autodetach.view.alike import is_alike
from autodetach.view.gradient_modes import NO_GRAD, SWITCH, are_off
from autodetach.view.kept import are_elements_kept, is_kept
from autodetach.view.own_gradient import gradients_of
from autodetach.view.program import Program

UNDER = frozenset({NO_GRAD, SWITCH})
KEPT = "something else holds the tensor as it was, and would see the update"
OTHERWISE = (
    "the update may have another shape or type than the tensor, which keeps its own where it is changed in place"
)


def of_updates(program: Program, statements: list[ast.stmt], doubt: str | None) -> Iterator[Candidate]:
    """Change what a group of updates rebinds in place, or make new leaves of it; `doubt` makes both unsafe."""
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.update_in_place import UpdateInPlace

    first = statements[0]
    assert isinstance(first, ast.Assign)
    assigns = tuple(s for s in statements if isinstance(s, ast.Assign))
    doubt = doubt or doubt_of_cut(program, assigns)
    if isinstance(first.value, ast.ListComp):
        if program.names_read(first):
            yield Candidate("make new leaves", (as_leaf(first.value.elt),), doubt)
        return
    names = names_of(statements)
    forget = tuple(n for n in names if not _forgotten(program, first, n) and any(gradients_of(n, program.scope(first))))
    shown = ", ".join(f"`{n}`" for n in names)
    if not any(_is_zeroed(program, first, n) for n in names):
        yield from of_last_rebinds(program, assigns, doubt)
    kept = any(_is_held(program, s) for s in assigns)
    if kept or not is_alike(program, assigns):
        leaves = tuple(as_leaf(s.value) for s in assigns)
        if not any(_is_zeroed(program, first, n) for n in names):
            yield Candidate(f"make {shown} a new leaf", leaves, doubt)
        doubt = doubt or (KEPT if kept else OTHERWISE)
    guard = next((at for at in program.enclosing(first) if isinstance(at, ast.With) and are_off([at], UNDER)), None)
    if guard is not None:
        is_inside = any(isinstance(at, LOOPS) for at in takewhile(lambda at: at is not guard, program.enclosing(first)))
        behind = assigns[-1] if is_inside else guard  # each of many is forgotten
        extra = (InsertStatement(behind, "\n".join(f"{n}.grad = None" for n in forget)),) if forget else ()
        yield Candidate(f"update {shown} in place", (UpdateInPlace(assigns, wrap=False), *extra), doubt)
    elif program.imports_torch(first):
        yield Candidate(
            f"update {shown} in place, under `torch.no_grad()`",
            (UpdateInPlace(assigns, True, forget, _among(program, assigns)),),
            doubt,
        )


def names_of(statements: list[ast.stmt]) -> list[str]:
    """What the updates rebind, as it is written."""
    return [spelled(s.targets[0]) for s in statements if isinstance(s, ast.Assign)]


def _is_held(program: Program, update: ast.Assign) -> bool:
    """Whether anything else may hold what is updated; an element of a container, as another copy of that does."""
    target = update.targets[0]
    if isinstance(target, ast.Subscript):
        return are_elements_kept(program, update, target.value)
    return is_kept(program, update, spelled(target))


def _among(program: Program, updates: tuple[ast.Assign, ...]) -> tuple[ast.stmt, ...]:
    """The statements from the first update to the last."""
    block = program.block(updates[0])
    return tuple(block[block.index(updates[0]) : block.index(updates[-1]) + 1])


def _forgotten(program: Program, statement: ast.stmt, name: str) -> bool:
    """Whether the program zeroes the gradient itself, in the same loop."""
    scope = program.scope(statement)
    loops = (at for at in program.enclosing(statement) if isinstance(at, LOOPS) and program.scope(at) is scope)
    *_, around = (scope, *loops)
    return any(_zeroing(around, name)) or any(
        isinstance(node, ast.Assign) and any(spelled(t) == f"{name}.grad" for t in node.targets)
        for node in walk(around)
    )


def _is_zeroed(program: Program, statement: ast.stmt, name: str) -> bool:
    """Whether the program zeroes the gradient without asking if there is any: a new leaf has none."""
    return any(
        not any(isinstance(at, ast.If) for at in program.enclosing(call))
        for call in _zeroing(program.scope(statement), name)
    )


def _zeroing(around: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in walk(around):
        if isinstance(node, ast.Call) and spelled(node.func) in (f"{name}.grad.zero_", f"{name}.grad.data.zero_"):
            yield node
