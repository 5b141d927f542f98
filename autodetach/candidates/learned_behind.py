"""What trains with a loss that each step of a sequence hands to it does so once, behind them, with their sum."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autodetach.candidates.one_backward import DOUBT, learns_later
from autodetach.machine.activations import Pass
from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word, spelled
from autodetach.node_types import LEAVING
from autodetach.suspect import Candidate
from autodetach.view.crossings import Crossed
from autodetach.view.free_names import free_name
from autodetach.view.program import Program, call_of, text


def learned_behind(
    program: Program, run: Run, d: Differentiation, now: Pass, crossed: Sequence[Crossed]
) -> Iterator[Candidate]:
    """`self.learn(loss)` of each step becomes one `self.learn(total_loss)` behind the steps.

    Only for a function that does nothing but to train with the loss that it is given.
    """
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_statement import ReplaceStatement

    loop, frame = now.activation.node, now.activation.frame
    at = max((i for i, (_, f) in enumerate(d.trail) if f is frame), default=None)
    if not isinstance(loop, (ast.For, ast.While)) or loop.orelse or d.loops[:1] == (now,) or at is None:
        return
    if at + 2 != len(d.trail) or any(isinstance(n, LEAVING) for n in walk(loop)):
        return
    statement, differentiating = d.trail[at][0], d.trail[at + 1][0]
    call, function = call_of(statement), program.scope(differentiating)
    if statement not in loop.body or call is None or not isinstance(function, ast.FunctionDef):
        return
    if not _is_stepped_in(run, statement, now) or not learns_later(run, d, now, crossed):
        return
    loss = _handed(function, call, d)
    bound = {name for s in (loop, *loop.body) for name in program.names_bound(s)}
    others = [call.func, *(a for a in call.args if a is not loss)]
    if loss is None or any(program.names_read(e) & bound for e in others):
        return
    root = loss.id if isinstance(loss, ast.Name) else "loss"
    total = free_name(program.file_of(loop), f"total_{root}", f"{root}_sum")
    if total is None:
        return
    given = ", ".join(total if a is loss else spelled(a) for a in call.args)
    yield Candidate(
        f"add up what `{text(call)}` is given in the loop, and train with the sum behind it",
        (
            InsertStatement(loop, f"{total} = 0", "before"),
            ReplaceStatement(statement, f"{total} = {total} + {{0}}", (loss,)),
            InsertStatement(loop, f"{spelled(call.func)}({given})"),
        ),
        DOUBT,
        gathers=True,
    )


def _is_stepped_in(run: Run, statement: ast.stmt, now: Pass) -> bool:
    """Whether a statement steps parameters, and nothing else does so in the passes of its loop."""
    inside = [s for s in run.machine.steps if s.what != "grad" and any(p.activation is now.activation for p in s.loops)]
    return bool(inside) and all(any(at is statement for at, _ in step.trail) for step in inside)


def _handed(function: ast.FunctionDef, call: ast.Call, d: Differentiation) -> ast.expr | None:
    """What a call gives a function as a loss, if that differentiates it, and does nothing else with it."""
    spec = function.args
    own = [a.arg for a in spec.args][len(spec.args) - len(call.args) :]
    odd = (*spec.posonlyargs, *spec.kwonlyargs, *spec.defaults, spec.vararg, spec.kwarg, *function.decorator_list)
    is_method = len(spec.args) == len(call.args) + 1 and isinstance(call.func, ast.Attribute)
    if any(odd) or call.keywords or not (is_method or len(spec.args) == len(call.args)):
        return None
    if last_word(call.func) != function.name or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    root = d.root_expression
    if not isinstance(root, ast.Name) or root.id not in own or d.kind != "backward":
        return None
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if not all(call_of(s) is not None for s in body):
        return None
    read = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == root.id]
    return call.args[own.index(root.id)] if read == [root] else None
