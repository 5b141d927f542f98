"""What an `if` differentiates and steps, as a policy in every third update, moves before the steps that are in its way.

What stands behind that in the `if`, as an update of target networks, stays where it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.moved_steps import (
    attributes_in,
    beside,
    calls_method,
    steps_in_the_way,
    walked_before,
    zeroed,
)
from autodetach.machine.activations import within
from autodetach.machine.children import targets_of
from autodetach.machine.graph import Differentiation, trail_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word
from autodetach.node_types import JUMPS, YIELDS
from autodetach.suspect import Candidate
from autodetach.view.called import with_called
from autodetach.view.program import Block, Program, call_of, text

OF_A_STEP = frozenset("zero_grad backward step clip_grad_norm_ clip_grad_value_ unscale_".split())
"""What is called around a differentiation, and reads no parameter that other steps change."""
PURE = frozenset({"bool", "int", "isinstance", "len"})
AGAIN = "the second loss may be meant to be computed again behind the step"


def branch_moved_before(program: Program, run: Run, by: Differentiation) -> Iterator[Candidate]:
    """Move a differentiation in an `if`, from its begin to the step, before the first step that is in its way."""
    in_the_way = steps_in_the_way(run, by)
    own = program.statement(by.call)
    branch = beside(program, own, in_the_way)
    if not isinstance(branch, ast.If) or branch.orelse or own not in branch.body:
        return
    stepping = {place for step in run.machine.steps if step.what == "step" for place, _ in step.trail}
    at = branch.body.index(own)
    end = next((i + 1 for i, s in enumerate(branch.body) if i >= at and _steps(run, s, by)), None)
    block = program.block(branch)
    first = next(i for i, s in enumerate(block) if s in in_the_way)
    goal = zeroed(block, first, stepping)
    if end is None or (goal == first and walked_before(program, block, in_the_way[block[first]]) < first):
        return
    moved, rest = branch.body[:end], branch.body[end:]
    over = block[goal : block.index(branch)]
    leading = [s for s in over if _begins(program, s, moved)]
    over = [s for s in over if s not in leading]
    if not (over and (rest or leading)) or not _may_move(program, run, by, branch, [*leading, *moved], over):
        return
    message = f"move `{text(by.call)}` and what belongs to it before `{text(block[goal])}`"
    yield _moving(message, branch, tuple(moved) if rest else (), block[goal], tuple(leading))


def _moving(
    message: str, branch: ast.If, moved: tuple[ast.stmt, ...], goal: ast.stmt, leading: tuple[ast.stmt, ...]
) -> Candidate:
    from autodetach.codemods.move_part_of_branch import MovePartOfBranch
    from autodetach.codemods.move_statements import MoveStatements

    if moved:
        shown = f"{message}, under its own `if {text(branch.test)}`"
        return Candidate(shown, (MovePartOfBranch(branch, moved, goal, leading),), AGAIN)
    return Candidate(message, (MoveStatements((*leading, branch), goal, paragraph=True),), AGAIN)


def _steps(run: Run, statement: ast.stmt, by: Differentiation) -> bool:
    """Whether a statement steps parameters by the gradient of a differentiation."""
    return any(
        step.what == "step"
        and any(place is statement for place, _ in step.trail)
        and any(by in walks for _, walks in step.consumed)
        for step in run.machine.steps
    )


def _begins(program: Program, statement: ast.stmt, moved: Block) -> bool:
    """Whether a statement gives a name its first value, which what moves replaces: `actor_loss = torch.zeros(1)`."""
    bound = {name for s in moved for name in program.names_bound(s)}
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return False
    given = program.names_bound(statement)
    return bool(given) and given <= bound and all(isinstance(t, ast.Name) for t in targets_of(statement))


def _may_move(program: Program, run: Run, by: Differentiation, branch: ast.If, moving: Block, over: Block) -> bool:
    """Whether statements of a branch, and what begins its names, do the same before some others as behind them.

    The test of the branch has to be the same before both, and behind what moves.
    """
    tests: Block = [ast.copy_location(ast.Expr(branch.test), branch)]
    if not program.may_pass([*moving, *tests], over) or not program.may_pass(tests, moving):
        return False
    if not all(_is_plain(s) for s in moving) or not is_pure(branch.test) or any(map(may_leave, over)):
        return False
    read, bound = attributes_in(with_called(program, run.machine, _without_steps(moving)))
    read_over, bound_over = attributes_in(with_called(program, run.machine, _without_steps(over)))
    asked, _ = attributes_in(tests)
    if bound & (read_over | bound_over | asked) or bound_over & (read | asked):
        return False
    # What moves may compute nothing with parameters that the others step, and not be made of what they compute.
    stepped = {leaf for s in run.machine.steps for leaf, _ in s.consumed if any(place in over for place, _ in s.trail)}
    made = [n for n in run.machine.nodes if not n.leaf and any(s in moving for s, _ in trail_of(n))]
    if any(parent in stepped for n in made for parent in n.parents):
        return False
    building = {s for n in by.walked for s, _ in trail_of(n) if not n.leaf and within(n.loops, by.loops)}
    return building.isdisjoint(over)


def _is_plain(statement: ast.stmt) -> bool:
    """Whether it binds a name, or belongs to a step."""
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return True
    call = call_of(statement)
    return call is not None and last_word(call.func) in OF_A_STEP


def may_leave(statement: ast.stmt) -> bool:
    """Whether what follows may not run behind a statement."""
    return any(isinstance(n, JUMPS) for n in ast.walk(statement))


def is_pure(test: ast.expr) -> bool:
    """Whether a test may be asked twice."""
    changing = (ast.NamedExpr, ast.Await, *YIELDS)
    return not any(
        isinstance(n, changing) or (isinstance(n, ast.Call) and last_word(n.func) not in PURE) for n in ast.walk(test)
    )


def _without_steps(statements: Block) -> Block:
    return [s for s in statements if not any(calls_method(s, name) for name in OF_A_STEP)]
