"""Which parameters may still be None where they are read, by default: `def forward(self, x, hidden=None)`."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from autodetach.machine.children import walk
from autodetach.machine.spelling import is_none
from autodetach.node_types import FUNCTIONS, FunctionNode
from autodetach.view.program import Program

TESTING = (ast.If, ast.IfExp, ast.While, ast.Assert)


def may_be_none(program: Program, expression: ast.expr) -> bool:
    """Whether a caller may leave a name to its default, None, and the function has neither set nor tested it before.

    Where it is computed with at once, None is an error anyway.
    """
    scope = program.scope(expression)
    if not isinstance(expression, ast.Name) or not isinstance(scope, FUNCTIONS):
        return False
    if expression.id not in _none_by_default(scope) or isinstance(
        program.parents.get(expression), (ast.BinOp, ast.AugAssign, ast.UnaryOp, ast.Attribute, ast.Subscript)
    ):
        return False
    around = list(itertools.takewhile(lambda at: at is not scope, program.enclosing(expression)))
    blocks = [program.block(s) for s in around if isinstance(s, ast.stmt)]
    before = (s for block in blocks for s in block if s.lineno < expression.lineno and s not in around)
    return not any(expression.id in program.names_bound(s) for s in before) and not _is_tested(scope, expression.id)


def _none_by_default(scope: FunctionNode) -> Iterator[str]:
    spec = scope.args
    by_position = zip([*spec.posonlyargs, *spec.args][::-1], spec.defaults[::-1], strict=False)
    by_name = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    return (a.arg for a, default in (*by_position, *by_name) if default is not None and is_none(default))


def _is_tested(scope: ast.AST, name: str) -> bool:
    """Whether a function asks what a variable is: `if hidden is None`, `hidden or zeros`."""
    tests: list[ast.AST] = []
    for node in walk(scope):
        if isinstance(node, TESTING):
            tests.append(node.test)
        elif isinstance(node, ast.BoolOp):
            tests.append(node)
    return any(isinstance(n, ast.Name) and n.id == name for test in tests for n in ast.walk(test))
