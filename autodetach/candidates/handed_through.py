"""What a call takes and gives back, as a pool of earlier fakes does, is detached where it is handed to the call."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.machine.graph import Node, trail_of
from autodetach.machine.values import Value
from autodetach.view.program import Program, line, parts_of


def handed_through(program: Program, edges: Iterable[tuple[Node, Value, ast.expr]]) -> list[ast.Name]:
    """Where all that is read was made before `old = pool(new)` has bound it: what is handed in there."""
    found: dict[ast.Name, None] = {}
    for _, operand, read in edges:
        made = getattr(operand, "node", None)
        binding = _binding(program, read)
        if made is None or binding is None or not isinstance(binding.value, ast.Call):
            return []
        beside = program.block(binding)
        places = [place for place, _ in trail_of(made) if place in beside]
        bound = {n for place in places if place is not binding for n in program.names_bound(place)}
        given = [n for argument in binding.value.args for n in _names(argument) if n.id in bound]
        if binding in places or not given:
            return []
        found.update(dict.fromkeys(given))
    return list(found)


def _binding(program: Program, name: ast.expr) -> ast.Assign | None:
    """The assignment of its block that binds a name for whoever reads it."""
    statement = program.statement(name)
    if not isinstance(name, ast.Name) or statement is None:
        return None
    before = (s for s in program.block(statement) if line(s) < line(statement))
    bound = [s for s in before if name.id in program.names_bound(s)]
    return bound[-1] if bound and isinstance(bound[-1], ast.Assign) else None


def _names(argument: ast.expr) -> Iterator[ast.Name]:
    """The names in an argument, which may be a list of them."""
    parts = parts_of(argument)
    yield from (part for part in parts if isinstance(part, ast.Name))
