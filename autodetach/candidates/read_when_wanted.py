"""A number that is differentiated stays a tensor, and is read as a number wherever else it is wanted."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.summed_numbers import OF_TENSORS
from autodetach.machine.children import walk
from autodetach.machine.events import HistoryLost
from autodetach.machine.spelling import spelled
from autodetach.node_types import CALLABLES
from autodetach.suspect import Candidate
from autodetach.view.program import Program

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

SHARED = (ast.Global, ast.Nonlocal)


def read_when_wanted(program: Program, fact: HistoryLost, tensor: ast.expr) -> Iterator[Candidate]:
    """`loss = criterion(y, t).item()`, which is differentiated, and shown: what shows it gets `loss.item()` instead."""
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.keep_part import KeepPart

    number, call = fact.lost[0].place, fact.site.node
    made = program.parents.get(number)
    root = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    if not (isinstance(made, ast.Assign) and made.value is number and isinstance(root, ast.Name)):
        return
    name = root.id
    if spelled(made.targets[0]) != name or len(made.targets) > 1 or name == spelled(tensor):
        return
    scope = program.scope(number)
    if scope is not program.scope(root) or not isinstance(number, ast.expr):
        return
    mentions = [node for node in walk(scope) if isinstance(node, ast.Name) and node.id == name]
    reads = [node for node in mentions if isinstance(node.ctx, ast.Load)]
    if len(mentions) != len(reads) + 1 or any(name in node.names for node in walk(scope) if isinstance(node, SHARED)):
        return  # what else is bound to the name may be a number
    if any(isinstance(node, CALLABLES) and node is not scope and _binds(node, name) for node in walk(scope)):
        return
    wanted = [read for read in reads if not _is_of_tensor(program.parents.get(read))]
    called = any(isinstance(at := program.parents.get(read), ast.Call) and at.func is read for read in wanted)
    if wanted and not called and all(program.scope(read) is scope for read in wanted):
        message = f"keep the history of what is differentiated, and read `{name}` as a number elsewhere"
        codemods: list[Codemod] = [KeepPart(number, tensor, (), False)]
        codemods += (AppendMethod(read, "item") for read in wanted)
        yield Candidate(message, tuple(codemods), adds=True)


def _binds(function: ast.AST, name: str) -> bool:
    """Whether a function inside has an argument of this name."""
    return any(isinstance(node, ast.arg) and node.arg == name for node in walk(function))


def _is_of_tensor(around: ast.AST | None) -> bool:
    """Whether what is asked of a value is what tensors have, and numbers have not."""
    return isinstance(around, ast.Attribute) and around.attr in OF_TENSORS
