"""Losses of the steps of a sequence are added up in their loop, and differentiated once behind it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autodetach.machine.graph import Differentiation, Node, Pass, ancestors
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word
from autodetach.rules.crossings import Crossed
from autodetach.rules.program import Program, call_of, text
from autodetach.rules.suspect import Candidate

DOUBT = "parameters are stepped once for the whole loop, where the program means to step them in every pass"
LEAVING = (ast.Break, ast.Continue, ast.Return, ast.Yield, ast.YieldFrom)


def differentiated_behind(
    program: Program, run: Run, d: Differentiation, now: Pass, crossed: Sequence[Crossed]
) -> Iterator[Candidate]:
    """`total = total + loss` in place of `loss.backward()`, which goes behind the loop with the step.

    Only where what makes the state learns through later passes alone, so that no detach is a repair; and in a loop
    within another, whose passes are the examples.
    """
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.move_statements import MoveStatements
    from autodetach.codemods.replace_statement import ReplaceStatement

    loop, statement = now.activation.node, program.statement(d.call)
    if not isinstance(loop, ast.For) or loop.orelse or d.loops[:1] == (now,) or not _learns_later(d, now, crossed):
        return
    if statement not in loop.body or not _is_plain(statement, d) or any(isinstance(n, LEAVING) for n in ast.walk(loop)):
        return
    at = loop.body.index(statement)
    stepping = {place for step in run.machine.steps if step.what == "step" for place, _ in step.trail}
    last = max((n for n, s in enumerate(loop.body) if s in stepping), default=-1)
    moved = loop.body[at + 1 : last + 1]
    calls = {s: call for s in loop.body if (call := call_of(s)) is not None}
    zeroing = [s for s, call in calls.items() if s not in moved and last_word(call.func) == "zero_grad"]
    bound = {name for s in (loop, *loop.body) for name in program.names_bound(s)}
    if not moved or any(s not in calls or program.names_read(s) & bound for s in (*zeroing, *moved)):
        return
    assert isinstance(d.call.func, ast.Attribute)
    root = text(d.call.func.value)
    taken = {n.id for n in ast.walk(program.file_of(loop)) if isinstance(n, ast.Name)}
    total = next((name for name in (f"total_{root}", f"{root}_sum") if name not in taken), None)
    if total is None:
        return
    yield Candidate(
        f"add up `{root}` in the loop, and differentiate the sum behind it",
        (
            *((MoveStatements(tuple(zeroing), loop),) if zeroing else ()),
            InsertStatement(loop, f"{total} = 0", "before"),
            ReplaceStatement(statement, f"{total} = {total} + {root}"),
            InsertStatement(loop, f"{total}.backward()"),
            MoveStatements(tuple(moved), loop, before=False),
        ),
        DOUBT,
        gathers=True,
    )


def _learns_later(d: Differentiation, now: Pass, crossed: Sequence[Crossed]) -> bool:
    """Whether some parameter is reached through earlier passes only."""
    reached: set[Node] = set()
    pending = [root for root in d.roots if now in root.loops]
    while pending:
        node = pending.pop()
        if node not in reached:
            reached.add(node)
            pending += (parent for parent in node.parents if parent.leaf or now in parent.loops)
    leaves = {n for n in ancestors([maker for _, _, maker in crossed]) if n.leaf and n.grads}
    return not leaves <= reached


def _is_plain(statement: ast.stmt | None, d: Differentiation) -> bool:
    """`loss.backward()`, with at most a `retain_graph`."""
    call = d.call
    is_alone = isinstance(statement, ast.Expr) and statement.value is call and d.kind == "backward"
    is_of_name = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    return is_alone and is_of_name and not call.args and {k.arg for k in call.keywords} <= {"retain_graph"}
