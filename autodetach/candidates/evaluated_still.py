"""Where a function is called to evaluate a network, gradients stay off once it does not turn them off itself."""

from __future__ import annotations

import ast

from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word
from autodetach.machine.walking import WALKING
from autodetach.node_types import FUNCTIONS, FunctionNode
from autodetach.view.gradient_modes import are_off
from autodetach.view.program import Program

SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
OF_TRAINING = WALKING | {"step", "zero_grad"}


def evaluations(program: Program, function: FunctionNode) -> list[ast.stmt]:
    """The statements that call a function where `eval()` is called before, and nothing is trained."""
    found: dict[ast.stmt, None] = {}
    for call in (n for tree in program.analysis.trees for n in walk(tree) if isinstance(n, ast.Call)):
        if last_word(call.func) != function.name:
            continue
        statement, caller = program.statement(call), program.scope(call)
        if not isinstance(statement, SIMPLE) or not isinstance(caller, FUNCTIONS) or not _evaluates(caller, statement):
            continue
        if program.imports_torch(statement) and not are_off(program.enclosing(statement)):
            found[statement] = None
    return list(found)


def _evaluates(caller: FunctionNode, statement: ast.stmt) -> bool:
    called = [n.func for n in walk(caller) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    is_set = any(f.attr == "eval" and f.lineno < statement.lineno for f in called)
    return is_set and OF_TRAINING.isdisjoint(f.attr for f in called)
