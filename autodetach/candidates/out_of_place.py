"""What is changed in place, though it was saved as it was: the changed value is a new tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeGuard

from autodetach.candidates.made import doubt_of_holders, made_in_scope
from autodetach.candidates.wider_types import doubt_of_type
from autodetach.machine.children import walk
from autodetach.machine.events import StaleSaved
from autodetach.machine.spelling import spelled
from autodetach.machine.torch_semantics import OPS, RANDOM
from autodetach.machine.values import Tensor
from autodetach.suspect import Candidate
from autodetach.view.program import Program, line, text

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

REPLACING = frozenset({"copy", "fill", "zero"})
SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


def out_of_place(program: Program, event: StaleSaved) -> Iterator[Candidate]:
    """`x += y` -> `x = x + y`, and `x.mul_(y)` -> `x = x.mul(y)`, where something has computed `x` before it."""
    changed = event.changed.node
    target, value = next(iter(event.changed.operands), (None, None))
    while isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute):
        target = target.func.value
    if not isinstance(target, (ast.Name, ast.Attribute)) and not _is_entry(target):
        return
    if not isinstance(value, Tensor) or value.is_leaf or value.storage is not event.storage:
        return
    name = spelled(target)
    made = made_in_scope(program, changed, name)
    if made is None and value.view_of is not None:
        return
    doubt = doubt_of_holders(program, name, made, changed) or doubt_of_type(value, event.changed)
    if isinstance(changed, ast.AugAssign):
        yield from _augmented(program, changed, name, made, doubt)
    elif isinstance(changed, ast.Call):
        yield from _called(program, changed, target, doubt)


def _is_entry(target: ast.AST | None) -> TypeGuard[ast.Subscript]:
    """`batch["z"]`, `states[i]`: an element of a container, if it is no view."""
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, (ast.Name, ast.Attribute)):
        return False
    return isinstance(target.slice, (ast.Constant, ast.Name))


def _augmented(
    program: Program, changed: ast.AugAssign, name: str, made: ast.Assign | None, doubt: str | None
) -> Iterator[Candidate]:
    from autodetach.codemods.replace_statement import ReplaceStatement

    later = [
        s
        for s in walk(program.scope(changed))
        if isinstance(s, ast.AugAssign) and spelled(s.target) == name and (made is None or line(s) >= line(made))
        and type(s.op) in SIGNS and program.scope(s) is program.scope(changed)
    ]  # fmt: skip
    later.sort(key=line)
    # Several may follow each other, of which the event has the last.
    tries = [tuple(group) for group in ([changed], later[:1], later) if group]
    for statements in dict.fromkeys(tries):
        if all(type(s.op) in SIGNS for s in statements):
            shown = " and ".join(f"`{text(s)}`" for s in statements)
            codemods = tuple(
                ReplaceStatement(s, f"{{1}} = {{1}} {SIGNS[type(s.op)]} {term_of(s)}", (s.value, s.target))
                for s in statements
            )
            yield Candidate(f"compute a new tensor in place of changing it: {shown}", codemods, doubt)


def _called(program: Program, changed: ast.Call, target: ast.expr, doubt: str | None) -> Iterator[Candidate]:
    """`x.mul_(y).add_(z)` as a statement, or what is given back, or bound to the same name."""
    from autodetach.codemods.assign_result import AssignResult
    from autodetach.codemods.replace_tail import ReplaceTail

    chain = _chain(program, changed, target)
    statement = program.statement(changed)
    if not chain or not isinstance(statement, (ast.Expr, ast.Assign, ast.Return)) or statement.value is not chain[0]:
        return
    codemods: list[Codemod] = [
        ReplaceTail(call.func, call.func.value, f".{call.func.attr[:-1]}")
        for call in chain
        if isinstance(call.func, ast.Attribute)
    ]
    if isinstance(statement, ast.Expr):
        codemods.append(AssignResult(statement, (target,)))
    elif isinstance(statement, ast.Assign) and [spelled(t) for t in statement.targets] != [spelled(target)]:
        return
    shown = f"compute a new tensor in place of changing it: `{text(statement)}`"
    yield Candidate(shown, tuple(codemods), doubt)


def _chain(program: Program, changed: ast.Call, target: ast.expr) -> list[ast.Call]:
    """The calls that change a tensor one after the other, the last one first; empty where one has no other form."""
    at: ast.expr = changed
    while isinstance(around := program.parents.get(at), ast.Attribute):
        outer = program.parents.get(around)
        if not isinstance(outer, ast.Call) or outer.func is not around:
            return []
        at = outer
    chain: list[ast.Call] = []
    while isinstance(at, ast.Call) and isinstance(at.func, ast.Attribute) and _is_in_place(at.func.attr):
        chain.append(at)
        if target is at.func.value or target in at.args[:1]:
            return chain
        at = at.func.value
    return []


def _is_in_place(name: str) -> bool:
    """Whether an operation has a form without the underscore, which gives a new tensor of the same values."""
    return name.endswith("_") and name[:-1] in OPS and name not in RANDOM and name[:-1] not in REPLACING


def term_of(statement: ast.AugAssign) -> str:
    """The place of what is added, in parentheses where it would be taken apart."""
    inner = getattr(statement.value, "op", None)
    is_sum = isinstance(statement.op, (ast.Add, ast.Sub))
    is_loose = isinstance(inner, (ast.Add, ast.Sub)) if is_sum else isinstance(statement.value, ast.BinOp)
    return "({0})" if is_loose else "{0}"
