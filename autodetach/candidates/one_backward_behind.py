"""Losses that a function takes step by step are added up, and the function trains with their sum behind the loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autodetach.candidates.one_backward import DOUBT, learns_later
from autodetach.machine.activations import Pass
from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word, spelled
from autodetach.node_types import LEAVING, FunctionNode
from autodetach.suspect import Candidate
from autodetach.view.crossings import Crossed
from autodetach.view.free_names import free_name
from autodetach.view.program import Program, call_of, text


def trained_behind(
    program: Program, run: Run, d: Differentiation, now: Pass, crossed: Sequence[Crossed]
) -> Iterator[Candidate]:
    """`self.learn(output, target)` of each step becomes one `self.learn(loss)` behind the steps.

    Only for a function that computes a loss of what it is given, trains with it, and does nothing else with it, and
    that nobody else calls.
    """
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_parameters import ReplaceParameters
    from autodetach.codemods.replace_statement import ReplaceStatement

    loop, frame = now.activation.node, now.activation.frame
    at = max((i for i, (_, f) in enumerate(d.trail) if f is frame), default=None)
    if not isinstance(loop, ast.For) or loop.orelse or d.loops[:1] == (now,) or at is None or at + 2 != len(d.trail):
        return
    if any(isinstance(n, LEAVING) for n in walk(loop)) or not learns_later(run, d, now, crossed):
        return
    statement, function = d.trail[at][0], program.scope(d.trail[at + 1][0])
    call = _call(statement)
    if statement not in loop.body or call is None or not isinstance(function, ast.FunctionDef):
        return
    first = _loss(function, d)
    if first is None or _times_meant(program, function.name) != 1 or last_word(call.func) != function.name:
        return
    new = _at_call(program, function, first.value, call)
    root = spelled(first.targets[0])
    total = next((name for name in (root, f"total_{root}", f"{root}_sum") if name not in _names(program, loop)), None)
    file = program.file_of(loop)
    if new is None or total is None or program.file_of(function) is not file:
        return
    if total != root and free_name(file, total) is None:
        return
    parameters = tuple(_own(function))
    behind = f"{spelled(call.func)}({total})"
    if isinstance(statement, ast.AugAssign):
        behind = f"{spelled(statement.target)} += {behind}"
    yield Candidate(
        f"add up what `{text(call)}` differentiates in the loop, and train with the sum behind it",
        (
            ReplaceParameters(parameters, root),
            ReplaceStatement(first, ""),
            InsertStatement(loop, f"{total} = 0", "before"),
            ReplaceStatement(statement, f"{total} = {total} + {new}"),
            InsertStatement(loop, behind),
        ),
        DOUBT,
        gathers=True,
    )


def _call(statement: ast.stmt) -> ast.Call | None:
    """`learn(...)` as a statement, and of `total += learn(...)`."""
    if isinstance(statement, ast.AugAssign):
        is_sum = isinstance(statement.op, ast.Add) and isinstance(statement.target, ast.Name)
        return statement.value if is_sum and isinstance(statement.value, ast.Call) else None
    return call_of(statement) if isinstance(statement, ast.Expr) else None


def _own(function: FunctionNode) -> list[ast.arg]:
    """The parameters of a function, without that for its object."""
    return [a for a in function.args.args if a.arg != "self"]


def _loss(function: FunctionNode, d: Differentiation) -> ast.Assign | None:
    """`loss = criterion(output, target)`, with which a function begins that then only trains with `loss`."""
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    spec = function.args
    odd = (*spec.posonlyargs, *spec.kwonlyargs, *spec.defaults, spec.vararg, spec.kwarg)
    first = body[0] if body else None
    if any(odd) or function.decorator_list or not isinstance(first, ast.Assign) or not _own(function):
        return None
    target, *others = first.targets
    root = d.root_expression
    if others or not isinstance(target, ast.Name) or not isinstance(root, ast.Name) or root.id != target.id:
        return None
    given = {a.arg for a in _own(function)}
    names = [n for s in body[1:] for n in ast.walk(s) if isinstance(n, ast.Name)]
    if any(n.id in given or not isinstance(n.ctx, ast.Load) for n in names):
        return None
    return first if all(isinstance(s, (ast.Expr, ast.Return)) for s in body[1:]) else None


def _times_meant(program: Program, name: str) -> int:
    """How often a function of this name is spoken of."""
    return sum(
        (isinstance(n, ast.Attribute) and n.attr == name) or (isinstance(n, ast.Name) and n.id == name)
        for tree in program.analysis.trees
        for n in walk(tree)
    )


def _at_call(program: Program, function: FunctionNode, value: ast.expr, call: ast.Call) -> str | None:
    """An expression of a function's parameters, as it is written where that is called; None if it cannot be."""
    own = _own(function)
    is_method = len(own) < len(function.args.args)
    on_self = isinstance(call.func, ast.Attribute) and spelled(call.func.value) == "self"
    if call.keywords or len(call.args) != len(own) or is_method != on_self:
        return None
    given = {a.arg: spelled(e) for a, e in zip(own, call.args, strict=True)}
    if any(given[name] != name for name in given):
        return None
    caller = program.scope(call)
    arguments = {a.arg for a in ast.walk(caller) if isinstance(a, ast.arg)}
    others = program.names_read(value) - given.keys() - {"self"}
    if isinstance(caller, ast.Module) or others & (program.names_bound(caller) | arguments):
        return None  # the same names may mean something else there
    return spelled(value)


def _names(program: Program, loop: ast.AST) -> set[str]:
    """The names of the function around a loop."""
    return {n.id for n in walk(program.scope(loop)) if isinstance(n, ast.Name)}
