"""What statements run: themselves, and the functions that they call."""

from __future__ import annotations

import ast

from autodetach.machine.interpreter import Machine
from autodetach.machine.spelling import called_name
from autodetach.node_types import FUNCTIONS
from autodetach.view.program import Program


def with_called(program: Program, machine: Machine, statements: list[ast.stmt]) -> list[ast.stmt]:
    """Statements, and those of the functions that they call, directly or not, as far as their names tell."""
    bodies: dict[str, list[list[ast.stmt]]] = {}
    for function in {program.scope(statement) for statement in machine.executed}:
        if isinstance(function, FUNCTIONS):
            bodies.setdefault(function.name, []).append(function.body)
    found = list(statements)
    for statement in found:
        for node in ast.walk(statement):
            name = called_name(node) if isinstance(node, ast.Call) else ""
            found += (inner for body in bodies.pop(name, ()) for inner in body)
    return found
