"""What is done for some states and forgotten for others: `reset(decoder)`, `rnn.reset()`.

A pass does it for one object and not for the other, or another loop does it in each of its passes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from autodetach.candidates.learned_start import ANEW
from autodetach.machine.activations import Activation
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.program_values import Frame, Function, Instance
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Value
from autodetach.node_types import LOOPS
from autodetach.suspect import Candidate
from autodetach.view.crossings import Crossed
from autodetach.view.holders import Replay
from autodetach.view.meant import method_of
from autodetach.view.moments import Moment, behind_step, placed
from autodetach.view.program import Program, call_of

MAX_CALLS = 3


def done_alike(program: Program, again: Replay, crossed: list[Crossed]) -> Iterator[Candidate]:
    """Call what the program calls on one of its objects on the one that holds all of the states, too, beside it."""
    from autodetach.codemods.insert_statement import InsertStatement

    held = [{(h.frame, h.name, _attribute(h.name, h.text)) for h in again.of(operand)} for _, operand, _ in crossed]
    executed = (s for s in again.machine.executed if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call))
    calls = sorted((s for s in executed if not program.is_imported(s)), key=lambda s: s.lineno)
    found: dict[tuple[ast.stmt, str], None] = {}
    for frame, name, attribute in sorted(set.intersection(*held), key=lambda h: h[1:]) if held else ():
        for statement in calls:
            assert isinstance(statement.value, ast.Call)
            alike = _alike(program, statement.value, frame, name, attribute)
            if alike is not None:
                found[statement, alike] = None
    for anchor, call in islice(found, MAX_CALLS):
        yield Candidate(f"call `{call}` too", (InsertStatement(anchor, call),), ANEW)


def done_in_other_loops(
    program: Program, again: Replay, d: Moment, activation: Activation, crossed: list[Crossed]
) -> Iterator[Candidate]:
    """Call behind the step what another loop calls in each of its passes: `reset(net)`, as the validation does."""
    from autodetach.codemods.insert_statement import InsertStatement

    loop, frame = activation.node, activation.frame
    statement = placed(program, d, frame, loop) if isinstance(loop, LOOPS) and isinstance(frame, Frame) else None
    if statement is None or not isinstance(frame, Frame):
        return
    held = [{h.name for h in again.of(operand) if h.frame is frame} for _, operand, _ in crossed]
    calls = [call for at in walk(program.tree) if isinstance(at, ast.stmt) and (call := call_of(at)) is not None]
    found: dict[str, None] = {}
    for name in sorted(set.intersection(*held)) if held else ():
        for call in calls:
            around = [at for at in program.enclosing(call) if isinstance(at, LOOPS)]
            if around and loop not in around and around[0] not in program.enclosing(statement):
                found.update(dict.fromkeys(_as_for(call, frame, name)))
    anchor = behind_step(program, again.machine, d, statement, frame)
    for text in islice(found, MAX_CALLS):
        yield Candidate(f"call `{text}` behind the step, as another loop does", (InsertStatement(anchor, text),), ANEW)


def _as_for(call: ast.Call, frame: Frame, name: str) -> Iterator[str]:
    """A call of a function or method in view with one object, as it is written for the one that has this name."""
    func = call.func
    if call.keywords or len(call.args) > 1:
        return
    if call.args and isinstance(func, ast.Name) and isinstance(call.args[0], ast.Name):
        is_known = isinstance(frame.top.names.get(func.id), Function)
        yield from [f"{func.id}({name})"] if is_known else []
    elif not call.args and isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        is_known = method_of(frame.names.get(name), func.attr) is not None
        yield from [f"{name}.{func.attr}()"] if is_known else []


def _attribute(name: str, text: str) -> str:
    """`encoder` of `model.encoder[1].h`."""
    dot, _, rest = text[len(name) :].partition(".")
    attribute = rest.partition(".")[0].partition("[")[0]
    return attribute if not dot and attribute.isidentifier() else ""


def _alike(program: Program, call: ast.Call, frame: Frame, name: str, attribute: str) -> str | None:
    """A call of what is in view on some object, as it is written for the one that is named."""
    if call.keywords or len(call.args) > 1:
        return None
    func = call.func
    if call.args and isinstance(func, ast.Name):
        found = _sibling(program, call.args[0], frame, name, attribute)
        is_known = isinstance(frame.top.names.get(func.id), Function)
        return f"{func.id}({found[0]})" if found is not None and is_known else None
    if not call.args and isinstance(func, ast.Attribute):
        found = _sibling(program, func.value, frame, name, attribute)
        if found is not None and method_of(found[1], func.attr) is not None:
            return f"{found[0]}.{func.attr}()"
    return None


def _sibling(program: Program, other: ast.expr, frame: Frame, name: str, attribute: str) -> tuple[str, Value] | None:
    """How the object is written where another one is, which has another name or is another attribute of the same."""
    scope, this = program.scope(other), frame.names.get(name)
    if isinstance(other, ast.Name) and other.id != name:
        return (name, this) if _is_in_scope(program, scope, frame, name) else None
    if not isinstance(other, ast.Attribute) or other.attr == attribute or not attribute:
        return None
    if isinstance(this, Instance) and isinstance(scope, ast.FunctionDef) and scope.args.args:
        own, method = scope.args.args[0].arg, method_of(this, scope.name)
        if spelled(other.value) == own and method is not None and method.node is scope:
            return f"{own}.{attribute}", this.attrs.get(attribute)
    return None


def _is_in_scope(program: Program, scope: ast.AST, frame: Frame, name: str) -> bool:
    """Whether a name of a frame means the same in a block of code."""
    if frame.function is not None and frame.outer is not None:
        return frame.function.node is scope
    if isinstance(scope, ast.FunctionDef) and frame.function is None:
        return name not in all_parameter_names(scope.args) | program.names_bound(scope)
    return isinstance(scope, ast.Module)
