"""`state = replace(state, logits=f(x))`: a record with other values in some fields, which may be written once more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.spelling import last_word

REPLACING = frozenset("replace evolve _replace".split())
"""Of dataclasses, of attrs, and the method of named tuples."""


def only_replace_fields(statements: list[ast.stmt]) -> bool:
    """Whether statements, run once more in order, give fields of one record what they gave them, as it is by then.

    None of them reads a field that it, or a later one, replaces: `state = replace(state, step=state.step + 1)` would
    count on.
    """
    parts = [_replaced(statement) for statement in statements]
    names = {part[0] for part in parts if part is not None}
    if None in parts or len(names) != 1:
        return False
    all_fields = {field for part in parts if part is not None for field in part[1]}
    anew: set[str] = set()
    for _, fields, reads in filter(None, parts):
        if None in reads or not reads & all_fields <= anew:
            return False
        anew |= fields
    return True


def _replaced(statement: ast.stmt) -> tuple[str, set[str], set[str | None]] | None:
    """The record, its fields that are replaced, and those that are read for it; None among these is the whole."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, call = statement.targets[0], statement.value
    if not isinstance(target, ast.Name) or not isinstance(call, ast.Call) or last_word(call.func) not in REPLACING:
        return None
    record = call.args[0] if len(call.args) == 1 else None
    if isinstance(call.func, ast.Attribute) and not call.args:
        record = call.func.value
    fields = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    if not isinstance(record, ast.Name) or record.id != target.id or len(fields) != len(call.keywords):
        return None
    values = [keyword.value for keyword in call.keywords]
    return target.id, fields, {field for value in values for field in _fields_read(value, target.id)}


def _fields_read(value: ast.expr, name: str) -> Iterator[str | None]:
    """The fields of the record that an expression reads; None where it reads the record itself."""
    nodes = list(ast.walk(value))
    fields = {n.value: n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)}
    yield from (fields.get(n) for n in nodes if isinstance(n, ast.Name) and n.id == name)
