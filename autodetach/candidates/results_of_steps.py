"""A step returns a record of its loss, and the caller keeps it: the step makes it of the value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from autodetach.candidates.detaching import element_candidates, has_graph, leaves_of_display, structural
from autodetach.candidates.perhaps_none import is_optional, is_perhaps_none
from autodetach.candidates.states_in_records import given_to, held_of, in_order
from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation
from autodetach.machine.growth import Growth, is_whole
from autodetach.machine.held import graph_in, held_by
from autodetach.machine.program_values import Class, Instance
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.values import Mapping, Value
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.program import Program, listed

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

Part = tuple[ast.expr, Value]


CALLED = "who else calls it may differentiate what it returns"


def made_of_values(program: Program, growth: Growth) -> Iterator[Candidate]:
    """`return StepOutput(loss=loss, acc=acc)` -> `loss=loss.detach()`, where the step has trained with it before."""
    stored, d = growth.stored, growth.freeing
    value = stored.value if stored is not None else None
    if not isinstance(value, Instance) or d is None or is_whole(d) or d.kind == "grad" or d.number > value.born:
        return
    call = value.made
    if not isinstance(call, ast.Call) or last_word(call.func) != value.cls.name or not _is_behind(program, call, d):
        return
    parts = list(_parts(call, value))
    if not parts or _may_have_none(program, value, call, parts, d):
        return
    if all(has_graph(v) for _, v in parts):
        number = growth.activation.node is not None and not _are_tensors(value)
        found = element_candidates(program, parts, number=number, what="return")
        yield from (replace(candidate, doubt=candidate.doubt or CALLED) for candidate in found)
        return
    edits = [edit for e, v in parts for edit in _detached(e, v)]
    if edits:
        yield Candidate(f"return {listed(e for e, _ in parts)} without graph", tuple(edits), CALLED)


def _is_behind(program: Program, call: ast.Call, d: Differentiation) -> bool:
    """Whether a record is made in the function that has differentiated, behind that on every path."""
    function = program.scope(call)
    if not isinstance(function, FUNCTIONS):
        return False
    statements = [s for s, _ in d.trail]
    own = [number for number, s in enumerate(statements) if program.scope(s) is function]
    if not own:
        return False
    goal = {call, *program.enclosing(call)}
    return _comes_before(program, statements[own[-1]], goal) and all(
        _always_runs(program, s) for s in _last_of_each(program, statements[own[-1] + 1 :])
    )


def _last_of_each(program: Program, statements: list[ast.stmt]) -> list[ast.stmt]:
    """The innermost of some running statements in each function."""
    return list({program.scope(s): s for s in statements}.values())


def _comes_before(program: Program, statement: ast.stmt, goal: set[ast.AST]) -> bool:
    """Whether whatever comes to a place has run a statement, or another branch of it that differentiates."""
    at: ast.AST | None = statement
    while isinstance(at, ast.stmt):
        block = program.block(at)
        if at in goal or (at in block and any(s in goal for s in block[block.index(at) :])):
            return True
        at = _unconditional(program.parents.get(at))
    return False


def _always_runs(program: Program, statement: ast.stmt) -> bool:
    """Whether each call of a function runs a statement, or another branch of it that differentiates."""
    function = program.scope(statement)
    if any(isinstance(n, ast.Return) and n.lineno < statement.lineno for n in walk(function)):
        return False
    at: ast.AST | None = statement
    while isinstance(at, ast.stmt) and at is not function:
        around = program.parents.get(at)
        at = around if around is function else _unconditional(around)
    return at is function


def _unconditional(node: ast.AST | None) -> ast.AST | None:
    """A statement around others, if one of them that differentiates always runs."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return node
    if isinstance(node, ast.If) and _differentiates(node.body) and _differentiates(node.orelse):
        return node
    return None


def _differentiates(block: list[ast.stmt]) -> bool:
    calls = (n for s in block for n in walk(s) if isinstance(n, ast.Call))
    return any(last_word(call.func) == "backward" for call in calls)


def _may_have_none(
    program: Program, value: Instance, call: ast.Call, parts: list[Part], d: Differentiation
) -> bool:
    """Whether a part may be None on another path, other than what is differentiated itself."""
    walked = spelled(d.root_expression) if d.root_expression is not None else ""
    rest = [e for e, _ in parts if spelled(e) != walked]
    names = {e: name for name, e in given_to(call, value).items()}
    return any(is_perhaps_none(program, e) or is_optional(value, names.get(e, "")) for e in rest)


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
