"""What a record or a dict takes together with other things has parts: `Step(state=(h, c), value=value)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.changed_later import changed_later
from autodetach.candidates.detaching import has_graph, rows_of, structural
from autodetach.machine.events import Stored
from autodetach.machine.held import graph_in, tensors_in
from autodetach.machine.marks import is_mark
from autodetach.machine.program_values import Class, Instance
from autodetach.machine.records import fields_of, is_record
from autodetach.machine.values import Mapping, Sequence, Tensor, Value
from autodetach.suspect import Candidate
from autodetach.view.program import Program, handed, listed

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

DISPLAYS = (ast.Tuple, ast.List, ast.Dict)
Part = tuple[ast.expr, Value]


def detached_parts(program: Program, stored: Stored) -> Iterator[Candidate]:
    """Detach each part of what is stored where it goes in: a tensor by its method, a state in all that it holds.

    Where all of them are tensors, there are shorter ways to write it.
    """
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.replace_expression import ReplaceExpression

    parts = [(e, v) for e, v in _parts(stored) if any(map(has_graph, graph_in(v)))]
    if all(has_graph(v) for _, v in parts) or not all(map(_is_known, (v for _, v in parts))):
        return
    edits: dict[ast.expr, Codemod] = {}
    for expression, value in parts:
        if rows := rows_of(expression, value):
            edits |= {e: AppendMethod(e, "detach") for e, _ in rows}
            continue
        new = structural("{}", value)
        if new is None or (new.count("{}") > 1 and isinstance(expression, ast.Call)):
            return
        is_tensor = has_graph(value)
        edits[expression] = AppendMethod(expression, "detach") if is_tensor else ReplaceExpression(expression, new)
    copied = [e for e, v in parts if not has_graph(v)]
    doubt = next((why for e in copied if (why := changed_later(program, e)) is not None), None)
    yield Candidate(f"store {listed(edits)} without graph", tuple(edits.values()), doubt)


def _is_known(value: Value) -> bool:
    """Whether all that a part holds are tensors, as far as it is known: what may be a number has no `detach()`."""
    return all(isinstance(held, Tensor) or has_graph(held) for held in tensors_in(value))


def _parts(stored: Stored) -> list[Part]:
    """What a display, or the call that makes a record, has in it; or what the calls that lead to it were given."""
    element, value = stored.element, stored.value
    if isinstance(element, DISPLAYS):
        return list(_in_display(element, value))
    held = held_of(value)
    if isinstance(element, ast.Call):
        given = [(k.value, held[k.arg]) for k in element.keywords if k.arg in held]
        given += [(e, held[name]) for e, name in zip(element.args, in_order(value), strict=False) if name in held]
        if given and not any(isinstance(e, ast.Starred) for e, _ in given):
            return given
    found = [(next(handed(stored.chain, v), None), v) for v in held.values() if any(map(has_graph, graph_in(v)))]
    return [(e, v) for e, v in found if e is not None] if all(e is not None for e, _ in found) else []


def _in_display(expression: ast.expr, value: Value) -> Iterator[Part]:
    """The innermost parts of `(step, {"state": state})` that have an expression of their own."""
    pairs: list[Part] = [(expression, value)]
    if isinstance(expression, (ast.Tuple, ast.List)) and isinstance(value, Sequence):
        pairs = list(zip(expression.elts, value.items, strict=False))
    elif isinstance(expression, ast.Dict) and isinstance(value, Mapping) and None not in expression.keys:
        pairs = [(e, v) for e, (_, v) in zip(expression.values, value.items.values(), strict=False)]
    for e, v in pairs:
        yield from [(e, v)] if e is expression or not isinstance(e, DISPLAYS) else _in_display(e, v)


def in_order(value: Value) -> list[str]:
    """The fields of a record in the order in which its class takes them."""
    if not isinstance(value, Instance) or not isinstance(value.cls, Class):
        return []
    if value.cls.frozen:
        return list(held_of(value))
    known = fields_of(value.cls) if is_record(value.cls) else []
    return [field.name for field in known if field.argument is not None and not field.by_name]


def given_to(call: ast.Call, value: Value) -> dict[str, ast.expr]:
    """What a call that makes a record is given, by the names of the fields."""
    given = dict(zip(in_order(value), call.args, strict=False))
    return given | {k.arg: k.value for k in call.keywords if k.arg is not None}


def held_of(value: Value) -> dict[str, Value]:
    """The fields of a record, or the values of a dict under their names."""
    if isinstance(value, Instance):
        return {name: v for name, v in value.attrs.items() if not is_mark(name)}
    if isinstance(value, Mapping):
        return {key: v for key, v in value.items.values() if isinstance(key, str)}
    return {}
