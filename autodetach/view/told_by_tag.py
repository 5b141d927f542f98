"""Records that a loop tells apart by their tags, `if name == "test": value.detach()`, of which none was met so far."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import walk
from autodetach.machine.events import Stored
from autodetach.machine.program_values import Instance
from autodetach.machine.spelling import last_word
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import Mapping, Sequence, Sym, Value
from autodetach.node_types import LOOPS
from autodetach.once import once
from autodetach.view.called_back import WALKS
from autodetach.view.program import Program


def asks_where_not_reached(program: Program, stored: Stored) -> str | None:
    """A doubt where what is stored has a tag, and a loop over tagged things has a branch that no path has reached."""
    if not _has_tag(stored.value):
        return None
    return next((f"{program.place(at)} may ask more of it, where no path has led" for at in _unseen(program)), None)


def is_differentiated_where_not_reached(program: Program, stored: Stored) -> bool:
    """Whether such a branch differentiates something: then the graph is there to be walked."""
    return _has_tag(stored.value) and any(
        isinstance(n, ast.Call) and last_word(n.func) in WALKS for at in _unseen(program) for n in walk(at)
    )


def _has_tag(value: Value) -> bool:
    return any(is_constant(part) or isinstance(part, Sym) for part in _parts(value))


def _parts(value: Value) -> list[Value]:
    if isinstance(value, Sequence):
        return value.items if value.kind == "tuple" else []
    if isinstance(value, Mapping):
        return [part for _, part in value.items.values()]
    return list(value.attrs.values()) if isinstance(value, Instance) else []


@once
def _unseen(program: Program) -> list[ast.stmt]:
    loops = (n for tree in program.analysis.trees for n in walk(tree) if isinstance(n, LOOPS))
    return [at for loop in loops if program.is_reached(loop) for at in _not_reached(program, loop)]


def _not_reached(program: Program, loop: ast.For | ast.AsyncFor | ast.While) -> Iterator[ast.stmt]:
    """What is not reached in a loop that is, and reads what that has bound, behind a test of what it has bound."""
    inside = [n for statement in loop.body for n in walk(statement)]
    targets = list(walk(loop.target)) if isinstance(loop, (ast.For, ast.AsyncFor)) else []
    bound = {n.id for n in (*targets, *inside) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    branches = {n for n in inside if isinstance(n, (ast.If, ast.Match)) and _reads(_tested(n), bound)}
    is_guarded = any(isinstance(n, ast.Continue) for branch in branches for n in walk(branch))
    reading = (n for n in inside if isinstance(n, ast.stmt) and _reads(n, bound)) if branches else ()
    for statement in reading:
        is_behind = is_guarded or not branches.isdisjoint(program.enclosing(statement))
        if is_behind and not program.is_reached(statement):
            yield statement


def _tested(branch: ast.If | ast.Match) -> ast.expr:
    return branch.test if isinstance(branch, ast.If) else branch.subject


def _reads(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id in names for n in walk(node))
