"""Functions that are kept, and close over what has history: they close over the values alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.detaching import SHARED, has_graph
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.closures import ClosedOver, closed_over
from autodetach.machine.held import contents
from autodetach.machine.program_values import Function
from autodetach.machine.values import Mapping, Sequence, Value
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.program import Program

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

DEPTH = 4
NOT_CALLED = "nothing in view calls the function that is kept: who does may differentiate what it gives"


def keeping(value: Value, depth: int = DEPTH) -> list[tuple[Function, ClosedOver]]:
    """The functions in a value that keep tensors with history, each with one of these."""
    if isinstance(value, (Sequence, Mapping)):
        return [pair for item in contents(value) for pair in keeping(item, depth - 1)] if depth else []
    found: list[tuple[Function, ClosedOver]] = []
    for kept in closed_over(value) if isinstance(value, Function) and depth else ():
        if has_graph(kept.value):
            found.append((value, kept))
        elif isinstance(kept.value, (Function, Sequence, Mapping)):
            found += keeping(kept.value, depth - 1)
    return found


def detached_in_closures(program: Program, value: Value) -> Iterator[Candidate]:
    """`.detach()` on a default, or where the name is given its value; or before the function that reads it is made."""
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.insert_statement import InsertStatement

    where_given: dict[ast.AST | str, Codemod] = {}
    before: dict[ast.AST | str, Codemod] = {}
    shown: list[str] = []
    pairs = keeping(value)
    for function, kept in pairs:
        if kept.default is not None:
            where_given[kept.default] = before[kept.default] = AppendMethod(kept.default, "detach")
            shown.append(ast.unparse(kept.default))
            continue
        anchor = _statement_of(program, function, kept)
        if anchor is None:
            return
        shown.append(kept.name)
        before[kept.name] = InsertStatement(anchor, f"{kept.name} = {kept.name}.detach()", "before")
        given = _only_value(program, anchor, kept.name)
        where_given[kept.name] = before[kept.name] if given is None else AppendMethod(given, "detach")
    doubt = None if all(function.called for function, _ in pairs) else NOT_CALLED
    if any(program.is_imported(function.node) for function, _ in pairs):
        doubt = doubt or SHARED
    names = ", ".join(f"`{each}`" for each in dict.fromkeys(shown))
    message = f"close over the value without its graph: `.detach()` on {names}"
    for codemods in (where_given, before):
        if codemods:
            yield Candidate(message, tuple(codemods.values()), doubt)


def _statement_of(program: Program, function: Function, kept: ClosedOver) -> ast.stmt | None:
    """The statement of the call whose name is closed over in which the function is made."""
    owner = kept.frame.function.node if kept.frame.function is not None else None
    if owner is None or isinstance(owner, ast.Lambda):
        return None
    for at in (function.node, *program.enclosing(function.node)):
        if isinstance(at, ast.stmt) and program.scope(at) is owner:
            return at
    return None


def _only_value(program: Program, anchor: ast.stmt, name: str) -> ast.expr | None:
    """What the one assignment to a name gives it, in the function of a statement."""
    owner = program.scope(anchor)
    if not isinstance(owner, FUNCTIONS):
        return None
    if name in all_parameter_names(owner.args):
        return None
    targets = [n for n in ast.walk(owner) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)]
    statement = program.parents.get(targets[0]) if len(targets) == 1 else None
    return statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
