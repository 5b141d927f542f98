"""A step returns a record of its loss, and the caller keeps it: the step makes it of the value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.detaching import element_candidates, has_graph, leaves_of_display, structural
from autodetach.candidates.states_in_records import held_of, in_order
from autodetach.machine.growth import Growth, is_whole
from autodetach.machine.held import graph_in, held_by
from autodetach.machine.program_values import Class, Instance
from autodetach.machine.spelling import last_word
from autodetach.machine.values import Mapping, Value
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.program import Program, handed, listed

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

Part = tuple[ast.expr, Value]


def made_of_values(program: Program, growth: Growth) -> Iterator[Candidate]:
    """`return StepOutput(loss=loss, acc=acc)` -> `loss=loss.detach()`, where the step has trained with it before."""
    stored, d = growth.stored, growth.freeing
    value = stored.value if stored is not None else None
    if stored is None or not isinstance(value, (Instance, Mapping)):
        return
    if d is None or is_whole(d) or d.kind == "grad" or d.number > value.born:
        return
    calls = list(_makers(program, value, (stored.element, *handed(stored.chain, value))))
    parts = [(e, v) for call in calls for e, v in _parts(call, value)]
    if not parts:
        return
    if all(has_graph(v) for _, v in parts):
        number = growth.activation.node is not None and not _are_tensors(value)
        yield from element_candidates(program, parts, number=number, what="return")
        return
    edits = [edit for e, v in parts for edit in _detached(e, v)]
    if edits:
        yield Candidate(f"return {listed(e for e, _ in parts)} without graph", tuple(edits))


def name_of_class(value: Value) -> str:
    """The last word of what is called to make an object, or a dict by its keywords."""
    return value.cls.name if isinstance(value, Instance) else "dict" if isinstance(value, Mapping) else ""


def _makers(program: Program, value: Value, given: tuple[ast.expr | None, ...]) -> Iterator[ast.Call]:
    """The calls that make such a record: those in the functions that gave it, or the only one that there is."""
    name = name_of_class(value)
    called = {last_word(call.func) for e in given if (call := _call(program, e)) is not None}
    nodes = [n for tree in program.analysis.trees for n in ast.walk(tree)]
    calls = [n for n in nodes if isinstance(n, ast.Call) and last_word(n.func) == name and _parts(n, value)]
    inside = [call for call in calls if getattr(program.scope(call), "name", "") in called]
    yield from inside or (calls if len(calls) == 1 and isinstance(program.scope(calls[0]), FUNCTIONS) else ())


def _call(program: Program, expression: ast.expr | None) -> ast.Call | None:
    """The call that gives a value: itself, or what the last assignment to a name before it has on its right."""
    if isinstance(expression, ast.Name):
        scope, name, at = program.scope(expression), expression.id, expression.lineno
        bound = [
            s
            for s in ast.walk(scope)
            if isinstance(s, ast.Assign) and s.lineno <= at and any(getattr(t, "id", "") == name for t in s.targets)
        ]
        expression = max(bound, key=lambda s: s.lineno).value if bound else None
    return expression if isinstance(expression, ast.Call) else None


def _parts(call: ast.Call, value: Value) -> list[Part]:
    """What a call that makes a record is given that has history."""
    held = held_of(held_by(value) if isinstance(held_by(value), Mapping) else value)
    given = [(k.value, held[k.arg]) for k in call.keywords if k.arg in held]
    given += [(e, held[name]) for e, name in zip(call.args, in_order(value), strict=False) if name in held]
    found: list[Part] = []
    for e, v in given:
        if any(map(has_graph, graph_in(v))) and not isinstance(e, (ast.Starred, ast.Constant)):
            found += leaves_of_display(e, v) or [(e, v)]
    return found


def _detached(expression: ast.expr, value: Value) -> Iterator[Codemod]:
    """What detaches all that a part of a record has in it; nothing where that has no text."""
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.replace_expression import ReplaceExpression

    if has_graph(value):
        yield AppendMethod(expression, "detach")
        return
    new = structural("{}", value)
    if new is not None and (new.count("{}") == 1 or not isinstance(expression, ast.Call)):
        yield ReplaceExpression(expression, new)


def _are_tensors(value: Value) -> bool:
    """Whether the fields of a record are said to be tensors: `loss: Tensor`."""
    if not isinstance(value, Instance) or not isinstance(value.cls, Class):
        return False
    held = held_of(value)
    fields = (s for s in value.cls.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name))
    said = [s.annotation for s in fields if has_graph(held.get(getattr(s.target, "id", "")))]
    return any("Tensor" in ast.unparse(annotation) for annotation in said)
