"""What keeps its history is not told to require grad: that only let a graph begin where the history was lost."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from autodetach.candidates.with_history import with_history
from autodetach.machine.events import HistoryLost
from autodetach.machine.spelling import called_name
from autodetach.suspect import Candidate
from autodetach.view.program import Program

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

MORE = "the program runs as it is, and trains more then"


def with_its_own_history(program: Program, fact: HistoryLost) -> Iterator[Candidate]:
    """As where it raises, without what kept it from raising; more is trained then, which nobody has missed yet."""
    codemods = tuple(_without_flags(program, fact))
    if not all(codemods):
        return
    for candidate in with_history(program, fact):
        both = (*candidate.codemods, *(codemod for codemod in codemods if codemod is not None))
        yield replace(candidate, codemods=both, doubt=candidate.doubt or MORE)


def _without_flags(program: Program, fact: HistoryLost) -> Iterator[Codemod | None]:
    """`loss.requires_grad = True` goes, and so does `Variable(loss, requires_grad=True)` around a value.

    None where it cannot: PyTorch refuses to set the flag of what has history, even to what it is.
    """
    from autodetach.codemods.keep_part import KeepPart
    from autodetach.codemods.replace_statement import ReplaceStatement

    for place in dict.fromkeys(leaf.site.node for leaf in fact.begun):
        statement = program.statement(place)
        if statement is not None and _only_tells(statement, place):
            yield ReplaceStatement(statement, "") if len(program.block(statement)) > 1 else None
        elif not isinstance(place, ast.Call):
            yield None
        elif called_name(place) == "requires_grad_" and isinstance(place.func, ast.Attribute):
            yield KeepPart(place, place.func.value, ())
        elif called_name(place) == "Variable" and place.args:
            yield KeepPart(place, place.args[0], ())


def _only_tells(statement: ast.stmt, place: ast.AST) -> bool:
    """Whether a statement does nothing else: `loss.requires_grad = True`, `loss.requires_grad_()`."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(), attr="requires_grad_"))):
            return statement.value is place
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(), attr="requires_grad") as target]):
            return place in (target, statement)
    return False
