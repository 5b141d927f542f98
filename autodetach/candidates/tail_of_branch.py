"""What an `if` differentiates and steps last, as a judge from some epoch on, moves behind a later differentiation.

The `if` has made what that one walks, too: the rest of it stays where it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.moved_branch import AGAIN, OF_A_STEP, is_pure, may_leave
from autodetach.candidates.moved_steps import attributes_in, calls_method, end_of_step, steps_in_the_way, zeroed
from autodetach.machine.graph import Differentiation, trail_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word
from autodetach.suspect import Candidate
from autodetach.view.called import with_called
from autodetach.view.program import Block, Program, call_of, text


def tail_moved_behind(program: Program, run: Run, by: Differentiation) -> Iterator[Candidate]:
    """Move the end of an `if`, from the `zero_grad` of its step, behind a differentiation that it is in the way of.

    It zeroes the gradient that the other one has given for its own.
    """
    from autodetach.codemods.move_part_of_branch import MovePartOfBranch

    in_the_way = steps_in_the_way(run, by)
    anchor = program.statement(by.call)
    block = program.block(anchor) if anchor is not None else []
    if anchor not in block:
        return
    at = block.index(anchor)
    branch = next((s for s in block[:at] if s in in_the_way), None)
    if not isinstance(branch, ast.If) or branch.orelse:
        return
    stepping = {place for step in run.machine.steps if step.what == "step" for place, _ in step.trail}
    first = next((i for i, s in enumerate(branch.body) if s in in_the_way), len(branch.body))
    walk = next((i for i, s in enumerate(branch.body) if calls_method(s, "backward")), first)
    begin = zeroed(branch.body, walk, stepping)
    tail, over = branch.body[begin:], block[block.index(branch) + 1 : end_of_step(block, at, stepping)]
    if not 0 < begin < walk < first or not _may_move(program, run, branch, branch.body[:begin], tail, over):
        return
    shown = f"move {', '.join(f'`{text(s)}`' for s in tail)} behind `{text(over[-1])}`, under an `if` of their own"
    yield Candidate(shown, (MovePartOfBranch(branch, tuple(tail), over[-1], before=False),), AGAIN)


def _may_move(program: Program, run: Run, branch: ast.If, head: Block, tail: Block, over: Block) -> bool:
    """Whether the end of a branch does the same behind some statements, and its test says the same there."""
    calls = [call_of(s) for s in tail]
    if not all(call is not None and last_word(call.func) in OF_A_STEP for call in calls):
        return False
    tests: Block = [ast.copy_location(ast.Expr(branch.test), branch)]
    if not is_pure(branch.test) or any(map(may_leave, [*head, *over])) or not program.may_pass(tail, over):
        return False
    _, bound = attributes_in(with_called(program, run.machine, [*head, *over]))
    asked, _ = attributes_in(tests)
    if bound & asked or not program.may_pass(tests, [*head, *over]):
        return False
    # What stays may compute nothing with parameters that were stepped before it.
    stepped = {leaf for s in run.machine.steps for leaf, _ in s.consumed if any(place in tail for place, _ in s.trail)}
    inside = {n for s in over for n in ast.walk(s)}
    made = [n for n in run.machine.nodes if not n.leaf and any(s in inside for s, _ in trail_of(n))]
    return not any(parent in stepped for n in made for parent in n.parents)
