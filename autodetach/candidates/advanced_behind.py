"""What only the next pass reads is made behind the step of this one, with the parameters as they are by then."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.reads import Repair
from autodetach.machine.activations import Pass, pass_of
from autodetach.machine.children import targets_of
from autodetach.machine.events import Step
from autodetach.machine.graph import Differentiation, Node, trail_of
from autodetach.machine.run import Run
from autodetach.view.called import with_called
from autodetach.view.crossings import Crossed
from autodetach.view.program import Program, parts_of, text

PLACES = (ast.Name, ast.Attribute)
STEPPED = "what the next pass reads is then computed with the parameters after the step"


def advanced_behind(
    program: Program, run: Run, d: Differentiation, now: Pass, crossed: list[Crossed], cuts: list[Repair]
) -> Iterator[Repair]:
    """`h = cell(x, h)` between a loss and its step moves behind the step, where that loss has no use for the new `h`.

    Made before, it hangs on weights that the step has changed when the next loss comes to it. `cuts` are what detaches
    the old state where it is read.
    """
    from autodetach.codemods.move_statements import MoveStatements
    from autodetach.codemods.replace_expression import ReplaceExpression

    found = {_placed(run, d, now, maker) for _, _, maker in crossed}
    if len(found) != 1 or (place := found.pop()) is None:
        return
    statement, goal = place
    block = program.block(statement)
    if statement not in block or goal not in block:
        return
    if not _may_pass(program, run, statement, block[block.index(statement) + 1 : block.index(goal) + 1]):
        return
    inside = set(ast.walk(statement))
    shown = f"behind `{text(goal)}`"
    yield f"compute `{text(statement)}` {shown}", (MoveStatements((statement,), goal, before=False),)
    for message, codemods in cuts:
        changes = [c for c in codemods if isinstance(c, ReplaceExpression) and c.expression in inside]
        if len(changes) == len(codemods):
            move = MoveStatements((statement,), goal, before=False, changes=tuple(changes))
            yield f"{message}, and move that {shown}", (move,)


def _placed(run: Run, d: Differentiation, now: Pass, maker: Node) -> tuple[ast.stmt, ast.stmt] | None:
    """Where a node was made, and the step behind it in the same pass, before which nothing walks the node."""
    own = pass_of(maker.loops, now.activation)
    steps = [s for s in run.machine.steps if maker.number < s.clock < d.number and _is_of(s, now, own)]
    if not steps or any(walk.number < steps[-1].clock for walk in maker.walked_by):
        return None
    goals = {frame: place for place, frame in steps[-1].trail}
    return next(((place, goals[frame]) for place, frame in reversed(trail_of(maker)) if frame in goals), None)


def _is_of(step: Step, now: Pass, own: Pass | None) -> bool:
    """Whether a step changes parameters in one pass of a loop."""
    return step.what != "grad" and bool(step.consumed) and pass_of(step.loops, now.activation) is own


def _may_pass(program: Program, run: Run, statement: ast.stmt, over: list[ast.stmt]) -> bool:
    """Whether nothing that runs in between says what a statement sets, or sets what it reads."""
    if not isinstance(statement, ast.Assign) or not over or not program.may_pass([statement], over):
        return False
    if not all(isinstance(part, PLACES) for target in targets_of(statement) for part in parts_of(target)):
        return False
    between = [n for s in with_called(program, run.machine, over) for n in ast.walk(s) if isinstance(n, ast.Attribute)]
    own = [n for n in ast.walk(statement) if isinstance(n, ast.Attribute)]
    bound, read = ({n.attr for n in own if isinstance(n.ctx, how)} for how in (ast.Store, ast.Load))
    said, given = {n.attr for n in between}, {n.attr for n in between if not isinstance(n.ctx, ast.Load)}
    return bound.isdisjoint(said) and read.isdisjoint(given)
