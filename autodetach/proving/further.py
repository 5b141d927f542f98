"""How far a program comes before an error ends it, compared with another program."""

from __future__ import annotations

import ast

from autodetach.machine.events import UnreachedGrad
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled


def ended_further_on(before: Run, after: Run) -> list[ast.stmt]:
    """What ends when an error ends the second program, and stands, unchanged, where the first had not come to."""
    if before.stop is None or after.stop is None:
        return []
    every = {spelled(node) for node in ast.walk(before.stop.tree) if isinstance(node, ast.stmt)}
    left = every - {spelled(statement) for statement in before.stop.executed}
    return [statement for statement in after.stop.ended if spelled(statement) in left]


def is_idle_further_on(before: Run, after: Run) -> bool:
    """Whether what the first program did not come to, since an error ended it, gets no gradient at all.

    That is an optimizer, or an update by hand, which ends by an error of its own then.
    """
    if not before.stopped_by:
        return False
    known = {spelled(s.site.node) for s in before.machine.steps if isinstance(s.site.node, ast.expr)}
    idle: dict[ast.AST, bool] = {}
    for step in after.machine.steps:
        node = step.site.node
        if step.what == "step" and isinstance(node, ast.expr) and spelled(node) not in known:
            idle[node] = idle.get(node, True) and bool(step.idle) and not (step.consumed or step.guessed)
    return any(idle.values()) or (bool(after.stopped_by) and not _unreached(after) <= _unreached(before))


def _unreached(run: Run) -> set[str]:
    """The places that read `.grad` of leaves that no differentiation has reached."""
    nodes = (fact.site.node for fact in run.machine.facts if isinstance(fact, UnreachedGrad))
    return {spelled(node) for node in nodes if isinstance(node, ast.expr)}


def is_hidden(node: ast.AST, before: Run, after: Run) -> bool:
    """Whether a fault at a node only comes to light, since the first program ends before it comes there."""
    return any(node is inner for statement in ended_further_on(before, after) for inner in ast.walk(statement))
