"""A record is kept whose loss the caller differentiates: behind that, the record lets go of the graph."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator

from autodetach.candidates.detaching import has_graph, structural
from autodetach.candidates.perhaps_none import is_optional, is_perhaps_none
from autodetach.candidates.states_in_records import given_to, held_of
from autodetach.machine.children import walk
from autodetach.machine.growth import Growth, is_whole
from autodetach.machine.held import graph_in, held_by
from autodetach.machine.program_values import Class, External, Instance
from autodetach.machine.records import NAMESPACE
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Mapping, Value
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.program import Program, handed

OTHERS = "whoever else has the record finds no graph in it"


def let_go_behind(program: Program, growth: Growth) -> Iterator[Candidate]:
    """`out.loss = out.loss.detach()` before `outputs.append(out)`, or behind `out.loss.backward()` if that is later."""
    from autodetach.codemods.insert_statement import InsertStatement

    stored = growth.stored
    if stored is None or is_whole(growth.freeing) or not _may_be_changed(stored.value):
        return
    for expression in (stored.element, *handed(stored.chain, stored.value)):
        statement = program.statement(expression) if isinstance(expression, ast.Name) else None
        if not isinstance(expression, ast.Name) or statement is None or not _is_own(program, expression):
            continue
        lines = _lines(program, growth, expression.id, stored.value)
        if not lines:
            return
        shown = " and ".join(f"`{one.partition(' = ')[0]}`" for one in lines)
        message = f"let go of the graph of {shown} when it has been used"
        doubt = None if _is_only_read(program, expression) and not _is_held_elsewhere(growth) else OTHERS
        later = _walked_behind(program, growth, statement, expression.id)
        text = "\n".join(lines)
        edit = InsertStatement(statement, text, "before") if later is None else InsertStatement(later, text)
        yield Candidate(message, (edit,), doubt, last_resort=True)
        return


def _may_be_changed(value: Value) -> bool:
    """Whether the fields of an object, or the values of a dict that it is, may be set anew."""
    if not isinstance(value, Instance):
        return False
    if isinstance(value.cls, External):
        return value.cls.path == NAMESPACE
    held = held_by(value)
    return isinstance(value.cls, Class) and not value.cls.frozen and (held is value or isinstance(held, Mapping))


def _is_own(program: Program, name: ast.Name) -> bool:
    """Whether the scope of a name binds it: what a function is given is not its own to change."""
    scope = program.scope(name)
    if not isinstance(scope, (*FUNCTIONS, ast.Module)):
        return False
    names = (n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == name.id)
    return any(isinstance(n.ctx, ast.Store) and program.scope(n) is scope for n in names)


def _is_only_read(program: Program, name: ast.Name) -> bool:
    """Whether a function does nothing with a record but to read its fields, and to store it here."""
    scope, held = program.scope(name), set(ast.walk(program.statement(name) or name))
    for node in walk(scope):
        if not isinstance(node, ast.Name) or node.id != name.id or isinstance(node.ctx, ast.Store) or node is name:
            continue
        around = program.parents.get(node)
        is_field = isinstance(around, (ast.Attribute, ast.Subscript)) and around.value is node
        call = program.parents.get(around) if around is not None else None
        is_method = isinstance(call, ast.Call) and call.func is around
        if node in held or not is_field or is_method or program.scope(node) is not scope:
            return False
    return True


def _is_held_elsewhere(growth: Growth) -> bool:
    """Whether an object has the record under a name, or something else than what grows was given it."""
    stored = growth.stored
    machine = growth.run.machine
    return stored is not None and (
        any(one.value is stored.value for one in machine.attributes_set)
        or any(one.value is stored.value and one.container is not stored.container for one in machine.stored)
    )


def _lines(program: Program, growth: Growth, name: str, value: Value) -> list[str]:
    """The assignments that leave an object nothing that has history; none where one cannot be written."""
    inner = held_by(value)
    held = held_of(inner if isinstance(inner, Mapping) else value)
    root = growth.freeing.root_expression if growth.freeing is not None else None
    walked = spelled(root) if root is not None else ""
    lines: list[str] = []
    for key, one in held.items():
        if not any(map(has_graph, graph_in(one))):
            continue
        place = f"{name}[{json.dumps(key)}]" if isinstance(inner, Mapping) else f"{name}.{key}"
        new = structural(place, one)
        if new is None or key.startswith("_"):
            return []
        if walked not in (place, f"{name}.{key}", f"{name}['{key}']") and _is_perhaps_none(program, value, key):
            return []
        lines.append(f"{place} = {new}")
    return lines


def _is_perhaps_none(program: Program, value: Value, field: str) -> bool:
    """Whether a field is declared so, or given what may be None where the record is made."""
    made = value.made if isinstance(value, Instance) else None
    given = given_to(made, value).get(field) if isinstance(made, ast.Call) else None
    return is_optional(value, field) or (given is not None and is_perhaps_none(program, given))


def _walked_behind(program: Program, growth: Growth, statement: ast.stmt, name: str) -> ast.stmt | None:
    """The statement behind another one of its block in which the record's graph is walked, under the same name."""
    block = program.block(statement)
    places = {place for place, _ in growth.freeing.trail} if growth.freeing is not None else set()
    behind = block[block.index(statement) + 1 :]
    for number, one in enumerate(behind):
        if one in places:
            return one if all(name not in program.names_bound(s) for s in behind[: number + 1]) else None
    return None
