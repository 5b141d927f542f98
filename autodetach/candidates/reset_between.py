"""A state that goes on from one forward into the next, of which each has a backward of its own."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from autodetach.machine.children import walk
from autodetach.machine.events import SecondWalk
from autodetach.machine.graph import Node, trail_of
from autodetach.machine.program_values import Frame, Function
from autodetach.machine.run import Run
from autodetach.machine.spelling import is_dotted, spelled
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.program import Block, Program, call_of, text
from autodetach.view.read_by import functions_by_name

GOES_ON = "a state goes on from one forward into the next: it may be meant to begin anew in between"
MAX_CALLS = 3


def is_state(event: SecondWalk) -> bool:
    """Whether the second walk enters the first graph where a function reads what an earlier call of it has left."""
    first = event.first.number
    for child, parent in itertools.pairwise(event.path):
        if child.number > first > parent.number:
            return _is_left_by_another_call(child, parent)
    return _entered(event) is not None


def _is_left_by_another_call(child: Node, parent: Node) -> bool:
    here, there = _function_of(child), _function_of(parent)
    return here is not None and there is not None and here[0] is there[0] and here[1] is not there[1]


def _entered(event: SecondWalk) -> Node | None:
    """Where both graphs were there before the first backward: what reads an attribute that an earlier call has left.

    That call is made by another statement. What a call is given by the one before it, as a layer is, may be meant to
    be in both graphs.
    """
    frame = event.second.trail[-1][1] if event.second.trail else None
    for child, parent in itertools.pairwise(event.path):
        if event.first in child.walked_by or child.number > event.first.number > parent.number:
            return None
        if _is_left_by_another_call(child, parent) and _reads_own(child):
            here, there = ([s for s, f in trail_of(node) if f is frame] for node in (child, parent))
            if here and there and here != there:
                return child
    return None


def _reads_own(node: Node) -> bool:
    """Whether the statement of a method reads an attribute of its object that the method binds."""
    found = _function_of(node)
    if found is None or node.at is None or not isinstance(found[0].node, FUNCTIONS):
        return False
    method = found[0].node
    this = method.args.args[0].arg if method.args.args else ""
    own = [n for n in walk(method) if isinstance(n, ast.Attribute) and spelled(n.value) == this]
    bound = {n.attr for n in own if isinstance(n.ctx, ast.Store)}
    inside = set(ast.walk(node.at[0]))
    read = {n.attr for n in own if isinstance(n.ctx, ast.Load) and n in inside}
    return bool(bound & read)


def reset_between(program: Program, run: Run, event: SecondWalk) -> Iterator[Candidate]:
    """What the pass calls behind the last backward, as `reset_net(model)`, is called behind the first one, too."""
    from autodetach.codemods.insert_statement import InsertStatement

    first, second = program.statement(event.first.call), program.statement(event.second.call)
    if first is None or second is None:
        return
    block = program.block(second)
    if first not in block:
        return
    calls = [
        s for s in block[block.index(second) + 1 :] if s in run.machine.executed and _is_in_view(program, run, s, block)
    ]
    entered = _entered(event)
    anchor = next((s for s, _ in trail_of(entered) if s in block), None) if entered is not None else None
    for statement in calls[:MAX_CALLS]:
        if anchor is not None:
            message = f"call `{text(call_of(statement))}` before `{text(anchor)}`, too"
            yield Candidate(message, (InsertStatement(anchor, text(statement), "before"),), GOES_ON, cuts=True)
            continue
        message = f"call `{text(call_of(statement))}` behind `{text(event.first.call)}`, too"
        yield Candidate(message, (InsertStatement(first, text(statement)),), GOES_ON, cuts=True)


def _function_of(node: Node) -> tuple[Function, Frame] | None:
    frame = node.at[1] if node.at is not None else None
    return (frame.function, frame) if isinstance(frame, Frame) and frame.function is not None else None


def _is_in_view(program: Program, run: Run, statement: ast.stmt, block: Block) -> bool:
    """Whether a statement calls a function of the program by its name, or a method for its effect.

    What a method is given is there before the block, as a size is.
    """
    call = call_of(statement)
    if call is None or call.keywords:
        return False
    if isinstance(call.func, ast.Name):
        return isinstance(run.machine.globals.names.get(call.func.id), Function)
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in functions_by_name(program):
        return False
    if not all(isinstance(a, ast.Constant) or is_dotted(a) for a in call.args):
        return False
    return not call.args or not any(program.names_bound(one) & program.names_read(call) for one in block)
