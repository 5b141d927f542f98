"""A list of a file that a function fills, and nothing reads here: other functions of the file read and empty it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from autodetach.candidates.emptying import behind_docstring, empties, is_empty
from autodetach.container_methods import FILLING
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.events import Stored
from autodetach.machine.growth import Growth
from autodetach.machine.program_values import Frame, Function
from autodetach.suspect import Candidate
from autodetach.view.moments import behind_step, moment, placed
from autodetach.view.program import Program


def of_registry(program: Program, growth: Growth, candidates: Iterator[Candidate]) -> Iterator[Candidate]:
    """The candidates where what grows is such a list: first to empty it, as the program has it, and none is sure."""
    stored = growth.stored
    name = _registry(program, stored) if stored is not None else None
    reader = _idle_reader(program, stored, name) if stored is not None and name is not None else None
    if stored is None or name is None or reader is None:
        yield from candidates
        return
    doubt = f"`{reader}`, which nothing calls here, reads what is kept: who calls it may differentiate that"
    for candidate in (*_emptied(program, growth, name), *candidates):
        yield replace(candidate, doubt=candidate.doubt or doubt)


def _registry(program: Program, stored: Stored) -> str | None:
    """The name of the list, if it is one of the file that a function appends to, and that no path has read since."""
    call, function = stored.site.node, program.scope(stored.site.node)
    if stored.container.read >= stored.clock or not isinstance(function, ast.FunctionDef):
        return None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    held = call.func.value
    return held.id if isinstance(held, ast.Name) and not _is_own(program, function, held.id) else None


def _is_own(program: Program, function: ast.FunctionDef, name: str) -> bool:
    """Whether a name is a variable of a function, and not of its file."""
    if any(isinstance(n, ast.Global) and name in n.names for n in walk(function)):
        return False
    return name in all_parameter_names(function.args) or any(name in program.names_bound(s) for s in function.body)


def _idle_reader(program: Program, stored: Stored, name: str) -> str | None:
    """A function of the file that no path comes by, and that reads the list."""
    for node in walk(program.file_of(stored.site.node)):
        if not isinstance(node, ast.FunctionDef) or program.is_reached(node.body[0]):
            continue
        if not _is_own(program, node, name) and any(_is_read(program, n, name) for n in ast.walk(node)):
            return node.name
    return None


def _is_read(program: Program, node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Name) or node.id != name or not isinstance(node.ctx, ast.Load):
        return False
    around = program.parents[node]
    return not (isinstance(around, ast.Attribute) and around.attr in FILLING)


def _emptied(program: Program, growth: Growth, name: str) -> Iterator[Candidate]:
    """Call the function that empties the list, behind the step that has used what is in it."""
    from autodetach.codemods.insert_statement import InsertStatement

    freeing, frame, machine = growth.freeing, growth.activation.frame, growth.run.machine
    if freeing is None or not isinstance(frame, Frame) or growth.stored is None:
        return
    at = moment(freeing)
    statement = placed(program, at, frame, growth.activation.node)
    if statement is None or program.file_of(statement) is not program.file_of(growth.stored.site.node):
        return
    for function, value in frame.top.names.items():
        if isinstance(value, Function) and value.name == function and _only_empties(value.node, name):
            anchor = behind_step(program, machine, at, statement, frame)
            yield Candidate(f"call `{function}()` at the end of the pass", (InsertStatement(anchor, f"{function}()"),))


def _only_empties(node: ast.AST, name: str) -> bool:
    """Whether a function without arguments only empties a list of the file, or puts an empty one in its place."""
    if not isinstance(node, ast.FunctionDef) or all_parameter_names(node.args) or node.decorator_list:
        return False
    body = [statement for statement in behind_docstring(node) if not isinstance(statement, ast.Global)]
    is_said = any(isinstance(n, ast.Name) and n.id == name for statement in body for n in ast.walk(statement))
    return is_said and all(empties(statement) or _is_begun_anew(statement) for statement in body)


def _is_begun_anew(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Assign)
        and all(isinstance(t, ast.Name) for t in statement.targets)
        and is_empty(statement.value)
    )
