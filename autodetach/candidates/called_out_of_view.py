"""A function that gathers for what it returns, and has callers of which no run shows what they do with that."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.names_of_function import Named, call_by, named
from autodetach.candidates.only_shown import is_only_shown
from autodetach.machine.children import walk
from autodetach.machine.graph import ancestors
from autodetach.machine.growth import Growth, is_returned
from autodetach.machine.program_values import Frame, Function
from autodetach.machine.restraints import CallableGiven
from autodetach.machine.untrained import leaves_of
from autodetach.view.program import Program

RETURNED = "others, which nothing in view calls, return what this function returns: who calls them may train with it"
NAMED = "code that no run has entered calls this function, too: it may train with what that returns"
DEMONSTRATED = "nothing is trained here: who imports this function may train with what it returns"


def doubt_of_callers(program: Program, growth: Growth) -> str | None:
    """Why a cut in such a function may take gradient from somebody, if its graph is still whole."""
    frame = growth.activation.frame
    if growth.dead or not isinstance(frame, Frame) or frame.function is None or is_evaluated(growth):
        return None
    if _is_returned_by_others(program, growth, frame.function):
        return RETURNED
    if not is_returned(growth.run, growth.node, frame):
        return None
    if is_given_away(program, frame.function) or _may_use_it_unseen(program, frame.function):
        return NAMED
    return DEMONSTRATED if _is_demonstrated(program, frame.function) else None


def is_evaluated(growth: Growth) -> bool:
    """Whether all that it is made of are parameters of modules in `eval()` mode."""
    leaves = leaves_of(growth.node)
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


def is_given_away(program: Program, function: Function) -> bool:
    """Whether code out of view is given the function, to call it at any time."""
    given = (fact for run in program.runs for fact in run.machine.restraints if isinstance(fact, CallableGiven))
    return any(function.node in fact.codes for fact in given)


def wants_tensor(program: Program, growth: Growth) -> bool:
    """Whether a place to which no run has come would fail with a number, as `evaluate(net).item()` does.

    Of a list, nobody knows what other programs that import the file do with its elements.
    """
    frame = growth.activation.frame
    if not isinstance(frame, Frame) or frame.function is None or not is_returned(growth.run, growth.node, frame):
        return False
    if growth.stored is not None and program.is_imported(frame.function.node):
        return True
    calls = (call_by(program, node) for node in named_unseen(program, frame.function))
    return any(call is not None and not is_only_shown(program, call, number=True) for call in calls)


def _may_use_it_unseen(program: Program, function: Function) -> bool:
    """Whether a place to which no run has come may train with it.

    Where the program in view trains, and others only show what the function returns, it is nothing to train with.
    """
    trains = _trains(program)
    calls = (call_by(program, node) for node in named_unseen(program, function))
    return any(not trains or call is None or not is_only_shown(program, call, number=False) for call in calls)


def named_unseen(program: Program, function: Function) -> Iterator[Named]:
    """Where the function is named, and no run has come by: a lambda's place is where that is called."""
    ran = {node for run in program.runs for node in (*run.machine.called_on, *run.machine.called_off)}
    for node in named(program, function):
        lambdas = (at for at in program.enclosing(node) if isinstance(at, ast.Lambda))
        if not program.is_reached(node) or any(at not in ran for at in lambdas):
            yield node


def _trains(program: Program) -> bool:
    machines = [run.machine for run in program.runs]
    return any(s.what != "grad" for m in machines for s in m.steps) or any(
        d.kind != "grad" for m in machines for d in m.differentiations
    )


def _is_demonstrated(program: Program, function: Function) -> bool:
    """Whether a file that is made to be imported calls it under `if __name__ == "__main__"`, and trains nothing."""
    if _trains(program) or _is_run_for_itself(program, function):
        return False
    guarded = (s for s in walk(program.file_of(function.node)) if isinstance(s, ast.If))
    return any(isinstance(n, ast.Constant) and n.value == "__main__" for s in guarded for n in ast.walk(s.test))


def _is_run_for_itself(program: Program, function: Function) -> bool:
    """`main()`: it is given nothing, and nobody looks at what it returns."""
    calls = [call_by(program, node) for node in named(program, function)]
    return bool(calls) and all(
        c is not None and not c.args and not c.keywords and isinstance(program.parents.get(c), ast.Expr) for c in calls
    )
