"""What a loop over losses updates behind the backward of each waits until all have been differentiated.

The losses share a graph that has saved the parameters: PyTorch raises where one is differentiated after an update.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation, Site
from autodetach.machine.run import Run
from autodetach.machine.spelling import called_name, is_none, last_word, spelled
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.gradient_modes import is_only_no_grad
from autodetach.view.program import Program, call_of, text

LATER = "each loss is differentiated before any update: its author may mean to compute it anew behind each"
PLAIN = frozenset("enumerate zip parameters named_parameters items values len range list".split())
"""Calls that only list, behind which a loop does the same however the parameters have changed."""


def updated_behind_loop(program: Program, run: Run, by: Differentiation, changed: Site) -> Iterator[Candidate]:
    """`self.update(p, p.grad)` for all parameters, in an optimizer's own loop over losses, is done behind that loop."""
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_statement import ReplaceStatement

    walking = program.statement(by.call)
    loop = next((at for at in program.enclosing(by.call) if isinstance(at, ast.For)), None)
    step = next((s for s in run.machine.steps if s.site is changed and s.what == "update"), None)
    if loop is None or walking not in loop.body or step is None:
        return
    home = program.scope(loop)
    inside = (s for s, _ in reversed(step.trail) if loop in program.enclosing(s) and program.scope(s) is home)
    update = next(inside, None)
    if update is None or not _may_wait(program, loop, walking, update):
        return
    waiting = _waiting(program, loop, update)
    if waiting is None:
        return
    taken, given, later = waiting
    lines = [f"for {', '.join(given)} in updates:", f"    {later}"]
    for around in program.enclosing(update):
        if isinstance(around, ast.With) and loop in program.enclosing(around):
            lines = [f"with {spelled(around.items[0].context_expr)}:", *(f"    {line}" for line in lines)]
    codemods = (
        InsertStatement(loop, "updates = []", "before"),
        ReplaceStatement(update, f"updates.append(({', '.join(taken)}))"),
        InsertStatement(loop, "\n".join(lines)),
    )
    message = f"wait with `{text(update)}` until `{text(by.call)}` has been called for all"
    yield Candidate(message, codemods, LATER, respelled=((later, spelled(update)),))


def _may_wait(program: Program, loop: ast.For, walking: ast.stmt, update: ast.stmt) -> bool:
    """Whether a loop does nothing else than to zero, to differentiate, and to update each parameter by its gradient.

    What updates is a call, or `p -= rate * p.grad`.
    """
    is_call = call_of(update) is not None
    if not is_call and not (isinstance(update, ast.AugAssign) and isinstance(update.target, ast.Name)):
        return False
    if loop.orelse or loop.body.index(walking) > next(i for i, s in enumerate(loop.body) if _has(s, update)):
        return False
    inside = [s for s in walk(loop) if isinstance(s, ast.stmt) and s not in (loop, update, walking)]
    called = last_word(call.func) if (call := call_of(update)) is not None else ""
    return (
        all(_is_plain(s) for s in inside)
        and any(map(_zeroes, inside))
        and not any(
            f.name == called and any(isinstance(n, ast.Attribute) and n.attr == "grad" for n in ast.walk(f))
            for f in walk(program.file_of(loop))
            if isinstance(f, FUNCTIONS)
        )
    )


def _is_plain(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.For):
        return not statement.orelse and _calls_only(statement.iter, PLAIN)
    if isinstance(statement, ast.If):
        return _calls_only(statement.test, PLAIN)
    if isinstance(statement, ast.With):
        return is_only_no_grad(statement)
    return isinstance(statement, (ast.Continue, ast.Pass)) or _zeroes(statement)


def _has(statement: ast.stmt, other: ast.stmt) -> bool:
    return any(n is other for n in ast.walk(statement))


def _calls_only(node: ast.expr, names: frozenset[str]) -> bool:
    return all(called_name(n) in names for n in ast.walk(node) if isinstance(n, ast.Call))


def _zeroes(statement: ast.stmt) -> bool:
    """Whether a statement makes gradients None, or zero: `net.zero_grad()`, `p.grad = None`, `p.grad.zero_()`."""
    call = call_of(statement)
    if call is None or not isinstance(call.func, ast.Attribute):
        return _sets_none(statement)
    kept = [k for k in call.keywords if not (isinstance(k.value, ast.Constant) and k.value.value is True)]
    is_own = call.func.attr == "zero_" and isinstance(call.func.value, ast.Attribute) and call.func.value.attr == "grad"
    return (is_own or call.func.attr == "zero_grad") and not (kept or call.args)


def _sets_none(statement: ast.stmt) -> bool:
    """`p.grad = None`, or a `zero_grad` that says that it does so: it does not before PyTorch 2.0."""
    if isinstance(statement, ast.Assign):
        grads = [isinstance(target, ast.Attribute) and target.attr == "grad" for target in statement.targets]
        return is_none(statement.value) and all(grads)
    call = call_of(statement)
    return call is not None and any(k.arg == "set_to_none" for k in call.keywords) and _zeroes(statement)


def _waiting(program: Program, loop: ast.For, update: ast.stmt) -> tuple[list[str], list[str], str] | None:
    """What an update is given in each pass, the names by which it is given that behind the loop, and its text there."""
    scope = program.scope(loop)
    names = [n for n in walk(scope) if isinstance(n, ast.Name)]
    known = {n.id for n in names} | (all_parameter_names(scope.args) if isinstance(scope, FUNCTIONS) else set())
    bound = {n.id for n in walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    grads = [n for n in ast.walk(update) if isinstance(n, ast.Attribute) and n.attr == "grad"]
    if len({spelled(g) for g in grads}) != 1 or known & {"updates", "grad"} or not isinstance(grads[0].value, ast.Name):
        return None
    owners = {n for g in grads for n in ast.walk(g)}
    own = [n for n in ast.walk(update) if isinstance(n, ast.Name) and n.id in bound and n not in owners]
    if any(_is_read_outside(program, n, loop) for n in names if n.id in {o.id for o in own}):
        return None
    places = {"grad": (grads[0].lineno, grads[0].col_offset)}
    for n in own:
        places[n.id] = min(places.get(n.id, (n.lineno, n.col_offset)), (n.lineno, n.col_offset))
    zeroing = [s for s in walk(loop) if isinstance(s, ast.stmt) and _zeroes(s)]
    grad = spelled(grads[0]) if all(map(_sets_none, zeroing)) else f"{spelled(grads[0])}.clone()"
    given = sorted(places, key=places.__getitem__)
    return [grad if n == "grad" else n for n in given], given, spelled(update).replace(spelled(grads[0]), "grad")


def _is_read_outside(program: Program, name: ast.Name, loop: ast.For) -> bool:
    """Whether a name is read behind a loop as it has left it; another loop may bind it anew."""
    around = list(program.enclosing(name))
    if loop in around or not isinstance(name.ctx, ast.Load):
        return False
    return not any(isinstance(at, ast.For) and name.id in program.names_bound(at.target) for at in around)
