"""What a function does where it has turned gradients off, and left them off, is put under `torch.no_grad()`.

So it is with evaluations that end with neither `torch.set_grad_enabled(True)` nor a `with` around what they compute.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import walk
from autodetach.machine.entering import grad_mode_set_by
from autodetach.machine.events import HistoryLost
from autodetach.machine.graph import OFF
from autodetach.machine.spelling import last_word
from autodetach.node_types import FUNCTIONS, YIELDS
from autodetach.suspect import Candidate
from autodetach.view.gradient_modes import NO_GRAD, SWITCH, are_off
from autodetach.view.program import Program, text

ON_ELSEWHERE = "gradients are on for all else that runs behind it, and what computes there has a history then"


def left_off(program: Program, fact: HistoryLost) -> ast.stmt | None:
    """The statement that has turned gradients off, in a function that has ended: it is the only one that switches."""
    if not fact.off or any(one.how != OFF for one in fact.lost):
        return None
    found = [n for tree in program.analysis.trees for n in walk(tree) if _is_switch(n)]
    statement = program.statement(found[0]) if len(found) == 1 else None
    if statement is None or grad_mode_set_by(statement) is not False:
        return None
    scopes, function = {program.scope(at) for at, _ in fact.trail}, program.scope(statement)
    is_off_anyway = are_off([*(at for at, _ in fact.trail), *scopes], frozenset({NO_GRAD}))
    is_called = any(function in run.machine.called_on for run in program.runs)
    return statement if is_called and function not in scopes and not is_off_anyway else None


def _is_switch(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute)) and last_word(node) == SWITCH


def without_gradients_inside(program: Program, fact: HistoryLost) -> Iterator[Candidate]:
    """The rest of the function goes under `torch.no_grad()`, which ends with it, in place of the switch."""
    from autodetach.codemods.replace_statement import ReplaceStatement
    from autodetach.codemods.under_no_grad import UnderNoGrad

    statement = left_off(program, fact)
    function = program.parents.get(statement) if statement is not None else None
    if statement is None or not isinstance(function, FUNCTIONS) or not program.imports_torch(statement):
        return
    rest = tuple(function.body[function.body.index(statement) + 1 :])
    if rest and not any(isinstance(n, YIELDS) for s in rest for n in ast.walk(s)):
        message = f"compute under `torch.no_grad()`, which ends, instead of behind `{text(statement)}`"
        yield Candidate(message, (ReplaceStatement(statement, ""), UnderNoGrad(rest)), ON_ELSEWHERE, adds=True)
