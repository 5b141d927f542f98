"""A loss that is a term of a later one is differentiated with that alone, and its own step runs behind it.

So it is with the loss of a layer that has an optimizer of its own: the later differentiation fills its gradients too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from autodetach.candidates.moved_branch import is_pure, may_leave
from autodetach.candidates.moved_steps import attributes_in
from autodetach.machine.events import Step
from autodetach.machine.graph import Differentiation, Place
from autodetach.machine.program_values import Frame
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.called import with_called
from autodetach.view.moments import parting
from autodetach.view.program import Block, Program, call_of, text
from autodetach.view.steps_between import scaled_between

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

OF_A_STEP = frozenset({"backward", "step", "zero_grad"})
PERHAPS = (ast.If, ast.For, ast.While, ast.Try)
"""What may go on without the differentiation in it."""
ONCE = "the later loss is then computed with the parameters before the first step: that may be meant to come first"


def differentiated_with_later(
    program: Program, run: Run, first: Differentiation, by: Differentiation
) -> Iterator[Candidate]:
    """Drop a backward call whose loss `by` differentiates as a term, and move its step behind `by`.

    Where the step stands in a method, or in one that another method calls, with the backward call alone, the call of
    the method moves: `self.centers.end_iteration()`.
    """
    from autodetach.codemods.move_part_of_branch import MovePartOfBranch
    from autodetach.codemods.move_statements import MoveStatements
    from autodetach.codemods.replace_statement import ReplaceStatement

    dropped = program.statement(first.call)
    call = call_of(dropped) if dropped is not None else None
    if call is not first.call or {first.kind, by.kind} != {"backward"} or first.create_graph:
        return
    if not first.roots or not set(first.roots) <= {*by.roots, *by.walked} or scaled_between(run, first, by):
        return
    step = _own_step(run, first, by)
    moving = _moving(program, step, by) if step is not None else None
    if step is None or moving is None or dropped is None or _is_read_between(run, step, by):
        return
    unit, branch, walk = moving
    if not (_belongs(program, dropped, unit, step) and _may_move(program, run, unit, branch, step, walk)):
        return
    drop = ReplaceStatement(dropped, "")
    codemods: tuple[Codemod, ...]
    if branch is None:
        codemods = drop, MoveStatements((unit,), walk, before=False)
    elif all(s in (dropped, unit) for s in branch.body):
        changes = (drop,) if dropped in branch.body else ()
        codemods = MoveStatements((branch,), walk, before=False, changes=changes), *(() if changes else (drop,))
    else:
        codemods = drop, MovePartOfBranch(branch, (unit,), walk, before=False)
    shown = f"differentiate with `{text(walk)}` alone: drop `{text(first.call)}`, and move `{text(unit)}` behind it"
    yield Candidate(shown, codemods, ONCE, merges=True)


def _own_step(run: Run, first: Differentiation, by: Differentiation) -> Step | None:
    """The only step between two differentiations, if it alone consumes the gradient of the first."""
    between = [s for s in run.machine.steps if first.number < s.clock < by.number and s.consumed]
    consuming = [s for s in run.machine.steps if any(first in ds for _, ds in s.consumed)]
    is_own = between == consuming and len(between) == 1 and between[0].what == "step"
    return between[0] if is_own and all(ds == (first,) for _, ds in between[0].consumed) else None


def _moving(program: Program, step: Step, by: Differentiation) -> tuple[ast.stmt, ast.If | None, ast.stmt] | None:
    """What moves, the `if` around it in the method where it stands, if there is one, and behind what it moves."""
    depth = parting(step.trail, by.trail)
    if depth is None:
        return None
    (whole, frame), (walk, _) = step.trail[depth], by.trail[depth]
    block = program.block(walk)
    if walk not in block or whole not in block[: block.index(walk)] or isinstance(walk, PERHAPS):
        return None
    branch, rest = _under_branch(step.trail[depth:], frame)
    if branch is None and len(rest) > 1 and isinstance(rest[1][1], Frame) and not _is_unit(program, rest):
        # `self.losses()`, which calls `self.centers.end_iteration()`, by the same object as what differentiates.
        inner = rest[1][1]
        if not isinstance(frame, Frame) or inner.this is None or inner.this is not frame.this:
            return None
        if not _is_meant_once(program, rest[1][0]):
            return None
        branch, rest = _under_branch(rest[1:], inner)
        at = branch or rest[0][0]
        body: Block = getattr(program.scope(at), "body", [])
        if at not in body or any(map(may_leave, body[: body.index(at)])):
            return None
    unit = rest[0][0]
    return (unit, branch, walk) if _is_unit(program, rest) else None


def _under_branch(trail: Sequence[Place], frame: object) -> tuple[ast.If | None, Sequence[Place]]:
    """The `if` with which a part of a trail begins, and the rest; the statement that is run under it is first there."""
    at = trail[0][0]
    if isinstance(at, ast.If) and len(trail) > 1 and trail[1][1] is frame:
        return at, trail[1:]
    return None, trail


def _is_unit(program: Program, trail: Sequence[Place]) -> bool:
    """Whether a statement steps, or calls a function that does nothing but to differentiate and to step."""
    if call_of(trail[0][0]) is None or len(trail) > 2:
        return False
    if len(trail) == 1:
        return True
    body = getattr(program.scope(trail[1][0]), "body", [])
    plain = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    calls = [call_of(s) for s in plain]
    return all(c is not None and last_word(c.func) in OF_A_STEP for c in calls) and _is_meant_once(program, trail[1][0])


def _is_meant_once(program: Program, statement: ast.stmt) -> bool:
    """Whether the function around a statement is spoken of in one place."""
    function = program.scope(statement)
    name = function.name if isinstance(function, FUNCTIONS) else ""
    times = sum(
        (isinstance(n, ast.Attribute) and n.attr == name) or (isinstance(n, ast.Name) and n.id == name)
        for tree in program.analysis.trees
        for n in ast.walk(tree)
    )
    return times == 1


def _belongs(program: Program, dropped: ast.stmt, unit: ast.stmt, step: Step) -> bool:
    """Whether a backward call stands in front of what moves, or in the function that this calls."""
    places = [place for place, _ in step.trail]
    inside = places[places.index(unit) :]
    return any(dropped in (block := program.block(place)) and place in block for place in inside)


def _may_move(program: Program, run: Run, unit: ast.stmt, branch: ast.If | None, step: Step, walk: ast.stmt) -> bool:
    """Whether a statement, and the test around it, mean the same behind a later one, and are alone there."""
    if branch is not None and (branch.orelse or unit not in branch.body or not is_pure(branch.test)):
        return False
    moving: Block = [unit, ast.copy_location(ast.Expr(branch.test), branch)] if branch is not None else [unit]
    block = program.block(walk)
    whole = next(place for place, _ in step.trail if place in block)
    over = block[block.index(whole) + 1 : block.index(walk) + 1]
    if program.scope(unit) is not program.scope(walk):
        if not all(program.names_read(s) == {"self"} for s in moving):
            return False
    elif branch is not None:
        over = [*branch.body[branch.body.index(unit) + 1 :], *over]
    read, _ = attributes_in(moving)
    _, bound = attributes_in(with_called(program, run.machine, [whole, *over]))
    return not read & bound and program.may_pass(moving, over) and not any(map(may_leave, over))


def _is_read_between(run: Run, step: Step, by: Differentiation) -> bool:
    """Whether something is computed with the stepped parameters before the later differentiation."""
    leaves = {leaf for leaf, _ in step.consumed}
    return any(step.clock < n.number < by.number and leaves.intersection(n.parents) for n in run.machine.nodes)
