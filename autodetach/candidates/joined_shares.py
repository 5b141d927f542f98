"""A sum over passes that a function trains with every few of them: the share of each pass joins the loss of that."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from autodetach.candidates.joined_terms import JOINED, term_added
from autodetach.candidates.sums_anew import adds, zero
from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation
from autodetach.machine.spelling import spelled
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import ENDING_A_PASS, LOOPS
from autodetach.suspect import Candidate
from autodetach.view.free_names import free_name
from autodetach.view.program import Program, call_of, text
from autodetach.view.substituted import substituted

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

Loop: TypeAlias = ast.For | ast.AsyncFor | ast.While
VALUES = frozenset({"item", "detach"})


class _Sum(NamedTuple):
    """`pending`, which `adding` adds `term` to, and `call` trains with, as part of `root`, under `guard` in `loop`.

    `mentions` are all of it in its function.
    """

    name: str
    adding: ast.stmt
    term: ast.expr
    root: ast.expr
    call: ast.stmt
    guard: ast.If
    loop: Loop
    mentions: list[ast.Name]


def joined_shares(program: Program, d: Differentiation) -> Iterator[Candidate]:
    """`self.update(loss + weight * term / every)`, where every few passes call `self.update(weight * pending / every)`.

    What is told of the sum goes on to be, without its graph.
    """
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.replace_expression import ReplaceExpression
    from autodetach.codemods.replace_statement import ReplaceStatement

    found = _sum(program, d)
    begins = _begins(program, found) if found is not None else None
    loss = _loss(program, found) if found is not None else None
    if found is None or begins is None or loss is None:
        return
    reported = [n for n in found.mentions if _is_reported(program, n)]
    within = {n for s in (found.adding, found.call, *begins) for n in ast.walk(s)}
    if any(n not in within and n not in reported for n in found.mentions):
        return
    term, gone = spelled(found.term), [found.call]
    edits: list[Codemod] = []
    if not reported:
        gone += [found.adding, *begins]
    elif isinstance(found.term, ast.Name):
        edits.append(AppendMethod(found.term, "detach"))
    else:
        term = f"{found.name}_term"
        if free_name(program.file_of(found.loop), term) is None:
            return
        sign = "+=" if isinstance(found.adding, ast.AugAssign) else f"= {found.name} +"
        named = f"{term} = {{0}}\n{found.name} {sign} {term}.detach()"
        edits.append(ReplaceStatement(found.adding, named, (found.term,)))
    if all(s in gone for s in found.guard.body):
        gone = [s for s in gone if s not in found.guard.body] + [found.guard]
    edits += (ReplaceStatement(s, "") for s in gone)
    whole = "{}" if isinstance(loss, (ast.Name, ast.Attribute, ast.Call, ast.BinOp)) else "({})"
    edits.append(ReplaceExpression(loss, f"{whole} + {substituted(found.root, {found.name: term})}"))
    message = f"add the share of `{text(found.term)}` to `{text(loss)}` of the same pass"
    yield Candidate(message, tuple(edits), JOINED, gathers=True, last_resort=True)


def _sum(program: Program, d: Differentiation) -> _Sum | None:
    """The sum that every few passes hand, scaled, to a function which differentiates it."""
    for statement, _ in reversed(d.trail):
        guard = program.parents.get(statement)
        loop = program.parents.get(guard) if isinstance(guard, ast.If) else None
        if isinstance(guard, ast.If) and isinstance(loop, LOOPS):
            break
    else:
        return None
    root = _given(statement)
    if root is None or guard.orelse or guard not in loop.body or any(isinstance(n, ast.Call) for n in ast.walk(root)):
        return None
    inside = [n.id for n in ast.walk(root) if isinstance(n, ast.Name)]
    for adding in loop.body[: loop.body.index(guard)]:
        target = _target(adding) if adds(adding) else None
        if target is None or inside.count(target) != 1 or not _is_scaled(root, target):
            continue
        term = term_added(adding, target)
        bound = {name for s in loop.body for name in program.names_bound(s)} | program.names_bound(loop)
        if term is None or bound & {*inside} - {target}:
            return None
        mentions = [n for n in walk(program.scope(loop)) if isinstance(n, ast.Name) and n.id == target]
        return _Sum(target, adding, term, root, statement, guard, loop, mentions)
    return None


def _given(statement: ast.stmt) -> ast.expr | None:
    """What a statement that only calls a function gives to it, if that is one argument."""
    call = call_of(statement)
    is_one = call is not None and len(call.args) == 1 and not call.keywords
    return call.args[0] if call is not None and is_one and not isinstance(call.args[0], ast.Starred) else None


def _target(adding: ast.stmt) -> str | None:
    target = adding.target if isinstance(adding, ast.AugAssign) else getattr(adding, "targets", [None])[0]
    return target.id if isinstance(target, ast.Name) else None


def _is_scaled(root: ast.expr, total: str) -> bool:
    """Whether it is a sum, or that times or by names and numbers: a share of it is what a term of it is scaled to."""
    if isinstance(root, ast.BinOp) and isinstance(root.op, (ast.Mult, ast.Div)):
        left, right = _is_scaled(root.left, total), _is_scaled(root.right, total)
        return left or (right and isinstance(root.op, ast.Mult))
    if isinstance(root, ast.Name):
        return root.id == total
    return False


def _is_begin(statement: ast.stmt | None, name: str) -> bool:
    """Whether a statement sets a sum to zero."""
    if not isinstance(statement, ast.Assign) or [spelled(t) for t in statement.targets] != [name]:
        return False
    return zero(statement.value, name) is not None


def _begins(program: Program, found: _Sum) -> tuple[ast.stmt, ast.stmt] | None:
    """Where a sum begins with zero before its loop, and again where it is trained with; nothing else sets it."""
    stores = {program.statement(n): None for n in found.mentions if not isinstance(n.ctx, ast.Load)}
    begins = [s for s in stores if s is not None and s is not found.adding]
    before = [s for s in begins if found.loop not in program.enclosing(s)]
    again = [s for s in begins if s in found.guard.body]
    if len(begins) != 2 or not before or not again or not all(_is_begin(s, found.name) for s in begins):
        return None
    return before[0], again[0]


def _is_reported(program: Program, mention: ast.Name) -> bool:
    """Whether only the value of a sum is asked for: `pending.item()`, `float(pending)`."""
    parent = program.parents.get(mention)
    if isinstance(parent, ast.Attribute):
        return parent.attr in VALUES
    return isinstance(parent, ast.Call) and spelled(parent.func) == "float" and mention in parent.args


def _loss(program: Program, found: _Sum) -> ast.expr | None:
    """What the same function is called with in each pass, behind where the term is made: the first such loss."""
    call = call_of(found.call)
    body = found.loop.body
    read = program.names_read(found.term)
    for statement in body[body.index(found.adding) + 1 :]:
        if read & program.names_bound(statement) or any(isinstance(n, ENDING_A_PASS) for n in ast.walk(statement)):
            return None
        other, given = call_of(statement), _given(statement)
        if call is not None and other is not None and given is not None and spelled(other.func) == spelled(call.func):
            return given
    return None
