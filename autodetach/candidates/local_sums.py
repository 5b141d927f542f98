"""A sum that is differentiated in a loop, and was begun before it, begins anew where its step is done."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.candidates.cover import innermost
from autodetach.candidates.sums_anew import adds, zero
from autodetach.machine.activations import Activation
from autodetach.machine.children import targets_of, walk
from autodetach.node_types import LOOPS
from autodetach.suspect import Candidate
from autodetach.view.assigned import given_to
from autodetach.view.holders import Holder, Replay
from autodetach.view.moments import Moment, behind_step, last_mention, placed
from autodetach.view.program import Program

ANEW = "each step is then made of the losses since the last one, which only its author knows to be meant"


def local_sum_begun_anew(
    program: Program, again: Replay, d: Moment, activation: Activation, holders: Collection[Holder]
) -> Iterator[Candidate]:
    """`loss = 0` behind the step, if each few passes differentiate what they have added up, and nothing else reads it.

    A sum that every pass differentiates may be meant to go on.
    """
    from autodetach.codemods.insert_statement import InsertStatement

    names = {h.text for h in holders}
    loop = activation.node
    if len(names) != 1 or not isinstance(loop, LOOPS):
        return
    (name,) = names
    frame = innermost(d, holders)
    statement = placed(program, d, frame, loop)
    begin = _begin(program, loop, name)
    if statement is None or begin is None or not isinstance(program.parents.get(statement), ast.If):
        return
    if "torch" in begin and not program.imports_torch(statement):
        return
    anchor = last_mention(program, behind_step(program, again.machine, d, statement, frame), [name])
    if any(line > (anchor.end_lineno or 0) for line in _mentions(loop, name)):
        return
    yield Candidate(
        f"begin anew: `{name} = {begin}` behind the step", (InsertStatement(anchor, f"{name} = {begin}"),), ANEW
    )


def _begin(program: Program, loop: ast.stmt, name: str) -> str | None:
    """The zero that a variable begins with before a loop which alone reads it, and only adds to it."""
    scope = program.scope(loop)
    begins: list[str | None] = []
    for node in walk(scope):
        if isinstance(node, ast.Name) and node.id == name and loop not in program.enclosing(node):
            value = given_to(node, program.statement(node))
            if value is None:
                return None
            begins.append(zero(value, name))
        elif _binds(node, name) and loop in program.enclosing(node) and not (adds(node) or _scales(node, name)):
            return None
    return begins[0] if len(begins) == 1 else None


def _scales(node: ast.AST, name: str) -> bool:
    """`total = total / steps`, `total /= steps`: as the mean of what was added up."""
    if isinstance(node, ast.AugAssign):
        factor, is_scaled = node.value, isinstance(node.op, (ast.Div, ast.Mult))
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
        factor, is_scaled = node.value.right, isinstance(node.value.op, (ast.Div, ast.Mult))
        is_scaled = is_scaled and isinstance(node.value.left, ast.Name) and node.value.left.id == name
    else:
        return False
    return is_scaled and not any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(factor))


def _binds(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.stmt) and any(isinstance(t, ast.Name) and t.id == name for t in targets_of(node))


def _mentions(loop: ast.stmt, name: str) -> Iterator[int]:
    return (n.lineno for n in walk(loop) if isinstance(n, ast.Name) and n.id == name)
