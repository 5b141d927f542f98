"""Whether code that no run has entered does no more with the result of a call than show it."""

from __future__ import annotations

import ast

from autodetach.machine.children import targets_of, walk
from autodetach.machine.graph_reads import LOGGING, SHOWING
from autodetach.machine.quiet import REPORTS
from autodetach.machine.spelling import last_word
from autodetach.machine.torch_names import DETACHING, NUMBER_METHODS
from autodetach.node_types import CALLABLES
from autodetach.view.program import Program

NUMBERS = frozenset({"bool", "float", "int"})
CHOOSING = frozenset({"abs", "max", "min", "round"})
PASSING = frozenset("cpu cuda double float mean sqrt squeeze sum to".split())
"""Methods that make another tensor, and change nothing."""


Scoped = tuple[ast.AST, str]


def is_only_shown(program: Program, result: ast.expr, number: bool, seen: frozenset[Scoped] = frozenset()) -> bool:
    """Whether a value is printed, formatted, compared or read as a number, and nothing else, under its names, too.

    With `number`: so that it may be a number instead of a tensor.
    """
    at: ast.AST = result
    while True:
        around = program.parents.get(at)
        if isinstance(around, (ast.FormattedValue, ast.Compare)):
            return True
        if isinstance(around, ast.Attribute):
            if number:
                return False
            if around.attr in NUMBER_METHODS or around.attr in DETACHING:
                return True
            call = program.parents.get(around)
            if around.attr not in PASSING or not isinstance(call, ast.Call) or call.func is not around:
                return False
            at = call
        elif isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and around.func.id in CHOOSING:
            at = around
        elif isinstance(around, ast.Call):
            return at in around.args and _shows(program, around)
        elif isinstance(around, ast.keyword):
            call = program.parents.get(around)
            return isinstance(call, ast.Call) and _shows(program, call)
        elif isinstance(around, ast.Expr):
            return at is result and isinstance(at, ast.Call)
        elif isinstance(around, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and around.value is at:
            return all(_is_name_only_shown(program, target, number, seen) for target in targets_of(around))
        elif isinstance(around, ast.BinOp) and isinstance(around.op, ast.Mod) and _is_text(around.left):
            return True
        elif isinstance(around, (ast.BinOp, ast.UnaryOp, ast.Tuple)):
            if isinstance(around, ast.Tuple) and not _is_formatted(program, around):
                return False
            at = around
        else:
            return False


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_formatted(program: Program, values: ast.Tuple) -> bool:
    """`"%d: %.3f" % (epoch, loss)`."""
    around = program.parents.get(values)
    return isinstance(around, ast.BinOp) and isinstance(around.op, ast.Mod) and _is_text(around.left)


def _shows(program: Program, call: ast.Call) -> bool:
    """`print(loss)`, `float(loss)`, `"{}".format(loss)`, `writer.add_scalar("loss", loss)`."""
    name = last_word(call.func)
    if isinstance(call.func, ast.Name):
        return name in SHOWING or name in NUMBERS
    if isinstance(call.func, ast.Attribute) and name == "format":
        return _is_text(call.func.value)
    return isinstance(program.parents.get(call), ast.Expr) and (name in REPORTS or name in LOGGING)


def _is_name_only_shown(program: Program, target: ast.expr, number: bool, seen: frozenset[Scoped]) -> bool:
    """The same of what a variable has, wherever the scope reads it."""
    if not isinstance(target, ast.Name):
        return False
    scope = program.scope(target)
    key = scope, target.id
    if key in seen:
        return True
    if not isinstance(scope, (*CALLABLES, ast.Module)):
        return False
    inside = list(walk(scope))
    if any(isinstance(n, (ast.Global, ast.Nonlocal)) and target.id in n.names for n in inside):
        return False
    reads = (n for n in inside if isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Load))
    return all(is_only_shown(program, read, number, seen | {key}) for read in reads)
