"""A state that goes on from one forward into the next, of which each has a backward of its own."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from autodetach.machine.events import SecondWalk
from autodetach.machine.graph import Node
from autodetach.machine.run import Run
from autodetach.machine.values import Frame, Function
from autodetach.suspect import Candidate
from autodetach.view.program import Program, call_of, text

GOES_ON = "a state goes on from one forward into the next: it may be meant to begin anew in between"
MAX_CALLS = 3


def is_state(event: SecondWalk) -> bool:
    """Whether the second walk enters the first graph where a function reads what an earlier call of it has left."""
    first = event.first.number
    for child, parent in itertools.pairwise(event.path):
        if child.number > first > parent.number:
            here, there = _function_of(child), _function_of(parent)
            return here is not None and there is not None and here[0] is there[0] and here[1] is not there[1]
    return False


def reset_between(program: Program, run: Run, event: SecondWalk) -> Iterator[Candidate]:
    """What the pass calls behind the last backward, as `reset_net(model)`, is called behind the first one, too."""
    from autodetach.codemods.insert_statement import InsertStatement

    first, second = program.statement(event.first.call), program.statement(event.second.call)
    if first is None or second is None:
        return
    block = program.block(second)
    if first not in block:
        return
    calls = [s for s in block[block.index(second) + 1 :] if s in run.machine.executed and _is_in_view(run, s)]
    for statement in calls[:MAX_CALLS]:
        message = f"call `{text(call_of(statement))}` behind `{text(event.first.call)}`, too"
        yield Candidate(message, (InsertStatement(first, text(statement)),), GOES_ON, cuts=True)


def _function_of(node: Node) -> tuple[Function, Frame] | None:
    frame = node.at[1] if node.at is not None else None
    return (frame.function, frame) if isinstance(frame, Frame) and frame.function is not None else None


def _is_in_view(run: Run, statement: ast.stmt) -> bool:
    """Whether a statement calls a function of the program by its name, or a method for its effect."""
    call = call_of(statement)
    if call is None or call.keywords:
        return False
    if isinstance(call.func, ast.Name):
        return isinstance(run.machine.globals.names.get(call.func.id), Function)
    methods = {function.node.name for function in run.machine.functions if isinstance(function.node, ast.FunctionDef)}
    return isinstance(call.func, ast.Attribute) and not call.args and call.func.attr in methods
