"""The value of an update becomes a new leaf, wherever it is written."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from autodetach.machine.children import walk
from autodetach.machine.events import NonLeafGrad
from autodetach.machine.spelling import spelled
from autodetach.node_types import FUNCTIONS, LOOPS
from autodetach.suspect import Candidate
from autodetach.view.own_gradient import OwnUpdate
from autodetach.view.program import Program, call_of, parts_of

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

CALLED = "the update is handed back: another caller may want a tensor with the history of it"
CUT = "the history of the update may be wanted, as in meta-learning, or something else may hold the old tensor"


def as_leaf(value: ast.expr) -> Codemod:
    """`.detach().requires_grad_()` behind a value, in brackets where it is no call."""
    from autodetach.codemods.replace_expression import ReplaceExpression

    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "detach":
        return ReplaceExpression(value, "{}.requires_grad_()")
    return ReplaceExpression(value, f"{'{}' if isinstance(value, ast.Call) else '({})'}.detach().requires_grad_()")


def of_last_rebinds(program: Program, updates: Iterable[ast.Assign], doubt: str | None) -> Iterator[Candidate]:
    """Where an update is rebound again behind it, as by a clamp, what it is bound to last becomes a leaf."""
    last = {update: _last_rebind(program, update) for update in updates}
    if any(update is not final for update, final in last.items()):
        shown = ", ".join(f"`{spelled(update.targets[0])}`" for update in last)
        yield Candidate(f"make {shown} a new leaf", tuple(as_leaf(final.value) for final in last.values()), doubt)


def _last_rebind(program: Program, update: ast.Assign) -> ast.Assign:
    """The last statement behind an update, in its block, that computes its name from itself; or the update."""
    name = spelled(update.targets[0])
    block = program.block(update)
    last = update
    for statement in _one_by_one(block[block.index(update) + 1 :]):
        if isinstance(statement, ast.Assign) and [spelled(t) for t in statement.targets] == [name]:
            if not any(isinstance(n, ast.expr) and spelled(n) == name for n in ast.walk(statement.value)):
                break
            last = statement
    return last


def _one_by_one(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block, with those that stand under a `with` in it."""
    for statement in block:
        yield statement
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            yield from _one_by_one(statement.body)


def of_own_updates(program: Program, updates: list[OwnUpdate]) -> Iterator[Candidate]:
    """Make new leaves of what the updates make; a parameter of a module cannot be replaced by one."""
    if any(_may_be_parameter(program, one.made) for one in updates) or _is_zeroed(program):
        return
    handed_back = any(_is_handed_back(program, one.made) for one in updates)
    leaves = tuple(as_leaf(one.made) for one in updates)
    yield Candidate("make new leaves", leaves, CALLED if handed_back else CUT)


def _is_zeroed(program: Program) -> bool:
    """Whether the gradient of what an operation made is zeroed without asking if there is any: a new leaf has none."""
    reads = (fact.site.node for run in program.runs for fact in run.machine.facts if isinstance(fact, NonLeafGrad))
    statements = (program.statement(read) for read in reads)
    calls = (call_of(statement) for statement in statements if statement is not None)
    return any(isinstance(c.func, ast.Attribute) and c.func.attr == "zero_" for c in calls if c is not None)


def _is_handed_back(program: Program, made: ast.expr) -> bool:
    """Whether the function gives the update to its caller, and does not go on with it in a loop of its own."""
    statement = program.statement(made)
    around = list(program.enclosing(made))
    if isinstance(statement, ast.Return) or any(isinstance(at, (ast.Lambda, ast.Yield)) for at in around):
        return True
    scope = program.scope(made)
    if statement is None or not isinstance(scope, FUNCTIONS):
        return False
    if any(isinstance(at, LOOPS) and program.scope(at) is scope and _has_backward(at) for at in around):
        return False
    names = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)} - program.names_read(made)
    return any(isinstance(n, ast.Return) and names & program.names_read(n) for n in walk(scope))


def _has_backward(loop: ast.AST) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == "backward" for n in walk(loop))


def _may_be_parameter(program: Program, made: ast.expr) -> bool:
    """Whether the update is bound to an attribute of an object that may be a module."""
    statement = program.statement(made)
    targets = [part for t in getattr(statement, "targets", ()) for part in parts_of(t)]
    calls = [at for at in program.enclosing(made) if isinstance(at, ast.Call) and spelled(at.func) == "setattr"]
    owners = [t.value for t in targets if isinstance(t, ast.Attribute)] + [a for c in calls for a in c.args[:1]]
    return any(not _is_plain_self(program, owner) for owner in owners)


def _is_plain_self(program: Program, owner: ast.expr) -> bool:
    """Whether an object is the `self` of a class that has no base."""
    method = next((at for at in program.enclosing(owner) if isinstance(at, FUNCTIONS)), None)
    around = program.parents.get(method) if method is not None else None
    return spelled(owner) == "self" and isinstance(around, ast.ClassDef) and not around.bases
