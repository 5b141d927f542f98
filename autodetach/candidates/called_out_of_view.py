"""A function that gathers for what it returns, and has callers of which no run shows what they do with that."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.events import CallableGiven
from autodetach.machine.graph import ancestors
from autodetach.machine.growth import Growth, is_returned
from autodetach.machine.program_values import Frame, Function
from autodetach.view.program import Program

RETURNED = "others, which nothing in view calls, return what this function returns: who calls them may train with it"
NAMED = "code that no run has entered calls this function, too: it may train with what that returns"
DEMONSTRATED = "nothing is trained here: who imports this function may train with what it returns"


def doubt_of_callers(program: Program, growth: Growth) -> str | None:
    """Why a cut in such a function may take gradient from somebody, if its graph is still whole."""
    frame = growth.activation.frame
    if growth.dead or not isinstance(frame, Frame) or frame.function is None or _is_evaluated(growth):
        return None
    if _is_returned_by_others(program, growth, frame.function):
        return RETURNED
    if not is_returned(growth.run, growth.node, frame):
        return None
    if _is_given_away(program, frame.function) or any(_mentions_not_run(program, frame.function)):
        return NAMED
    return DEMONSTRATED if _is_demonstrated(program, frame.function) else None


def _is_evaluated(growth: Growth) -> bool:
    leaves = {n for n in ancestors([growth.node]) if n.leaf}
    return bool(leaves) and leaves <= growth.run.machine.evaluated


def _is_returned_by_others(program: Program, growth: Growth, function: Function) -> bool:
    """Whether another function, called by nobody in view, returns something that is made in this place."""
    return any(
        escape.how == "return"
        and escape.site.node is not function.node
        and any(node.site.node is growth.node.site.node for node in ancestors(escape.nodes))
        for run in program.runs
        for escape in run.machine.escapes
    )


def _is_given_away(program: Program, function: Function) -> bool:
    """Whether code out of view is given the function, to call it at any time."""
    given = (fact for run in program.runs for fact in run.machine.restraints if isinstance(fact, CallableGiven))
    return any(function.node in fact.codes for fact in given)


def _mentions_not_run(program: Program, function: Function) -> Iterator[bool]:
    """Of each place that names the function, whether no run has come by: a lambda's is where that is called."""
    ran = {node for run in program.runs for node in (*run.machine.called_on, *run.machine.called_off)}
    for tree in program.analysis.trees:
        for node in ast.walk(tree):
            is_named = isinstance(node, ast.Name) and node.id == function.name
            if is_named or (isinstance(node, ast.Attribute) and node.attr == function.name):
                lambdas = (at for at in program.enclosing(node) if isinstance(at, ast.Lambda))
                yield not program.is_reached(node) or any(at not in ran for at in lambdas)


def _is_demonstrated(program: Program, function: Function) -> bool:
    """Whether a file that is made to be imported calls it under `if __name__ == "__main__"`, and trains nothing."""
    machines = [run.machine for run in program.runs]
    if any(s.what != "grad" for m in machines for s in m.steps):
        return False
    if any(d.kind != "grad" for m in machines for d in m.differentiations):
        return False
    guarded = (s for s in ast.walk(program.file_of(function.node)) if isinstance(s, ast.If))
    return any(isinstance(n, ast.Constant) and n.value == "__main__" for s in guarded for n in ast.walk(s.test))
