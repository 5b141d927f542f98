"""A step behind which gradient is only looked at, as for a log, moves behind the look."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.moved_steps import READ, calls_method, steps_are_read
from autodetach.machine.graph import Differentiation, Site
from autodetach.machine.run import Run
from autodetach.suspect import Candidate
from autodetach.view.program import Program, listed, text

AGAIN = "the loss may be meant to be computed again behind the step, for the gradient there"


def step_moved_behind_look(program: Program, run: Run, by: Differentiation, changed: Site) -> Iterator[Candidate]:
    """Move a step behind the statement of its block that takes gradient by `torch.autograd.grad`, directly or not.

    What steps with it in that block, as a scheduler does, moves as well.
    """
    from autodetach.codemods.move_statements import MoveStatements
    from autodetach.codemods.set_keyword import SetKeyword

    step = program.statement(changed.node)
    if by.kind != "grad" or step is None or not any(s.site is changed and s.what == "step" for s in run.machine.steps):
        return
    block = program.block(step)
    places = {at for place, _ in by.trail for at in (place, *program.enclosing(place))}
    behind = block[block.index(step) + 1 :] if step in block else []
    look = next((s for s in behind if s in places), None)
    if look is None:
        return
    over = behind[: behind.index(look) + 1]
    moved = [step, *(s for s in over[:-1] if calls_method(s, "step"))]
    left = [s for s in over if s not in moved]
    earlier = {d for n in by.walked if not n.leaf for d in n.walked_by if d.number < by.number and d.kind != "grad"}
    freeing = sorted((d for d in earlier if not d.retain), key=lambda d: d.number)
    retains = tuple(SetKeyword(d.call, "retain_graph", "True") for d in freeing)
    yield Candidate(
        f"move {listed(moved)} behind `{_head(look)}`",
        (MoveStatements(tuple(moved), look, before=False), *retains),
        READ if steps_are_read(run, moved, left, by) else AGAIN,
    )


def _head(statement: ast.stmt) -> str:
    return f"if {text(statement.test)}" if isinstance(statement, ast.If) else text(statement)
