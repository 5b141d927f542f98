"""Where a function is called to evaluate a network, gradients stay off once it does not turn them off itself."""

from __future__ import annotations

import ast

from autodetach.machine.children import walk
from autodetach.machine.spelling import called_name, last_word
from autodetach.machine.words import DIFFERENTIATIONS
from autodetach.node_types import FUNCTIONS
from autodetach.view.program import Program

SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
OFF = frozenset({"no_grad", "inference_mode", "set_grad_enabled"})
OF_TRAINING = DIFFERENTIATIONS | {"grad", "step", "zero_grad"}


def evaluations(program: Program, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """The statements that call a function where `eval()` is called before, and nothing is trained."""
    found: dict[ast.stmt, None] = {}
    for call in (n for tree in program.analysis.trees for n in walk(tree) if isinstance(n, ast.Call)):
        if last_word(call.func) != function.name:
            continue
        statement, caller = program.statement(call), program.scope(call)
        if not isinstance(statement, SIMPLE) or not isinstance(caller, FUNCTIONS) or not _evaluates(caller, statement):
            continue
        if program.imports_torch(statement) and not _is_off(program, statement):
            found[statement] = None
    return list(found)


def _evaluates(caller: ast.FunctionDef | ast.AsyncFunctionDef, statement: ast.stmt) -> bool:
    called = [n.func for n in walk(caller) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    is_set = any(f.attr == "eval" and f.lineno < statement.lineno for f in called)
    return is_set and OF_TRAINING.isdisjoint(f.attr for f in called)


def _is_off(program: Program, statement: ast.stmt) -> bool:
    """Whether a block or function around a statement says itself whether gradients are on."""
    around = list(program.enclosing(statement))
    modes = [item.context_expr for at in around for item in getattr(at, "items", ())]
    modes += [decorator for at in around for decorator in getattr(at, "decorator_list", ())]
    return any(not OFF.isdisjoint((last_word(mode), called_name(mode))) for mode in modes)
