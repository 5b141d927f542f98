"""What a sum, or a moving average, begins with where it does not go on: what is assigned to its name elsewhere."""

from __future__ import annotations

import ast

from autodetach.machine.children import walk
from autodetach.machine.graph import calls_of
from autodetach.machine.growth import Growth
from autodetach.machine.spelling import spelled
from autodetach.node_types import LOOPS
from autodetach.view.program import Program

NAMES = (ast.Name, ast.Attribute, ast.Subscript)


def beginnings(program: Program, growth: Growth, statement: ast.stmt, name: str) -> list[ast.expr]:
    """The values that are assigned to `name` elsewhere than by `statement`, or by the other branch of that."""
    return [seed.value for seed in _seeds(program, growth, statement, name)] + _other_branch(growth, statement)


def _seeds(program: Program, growth: Growth, statement: ast.stmt, name: str) -> list[ast.Assign]:
    """Other assignments to the same name, which the moving average begins with: not those that go on with it.

    Nor those that the name is given behind the loop, or by what makes no tensor in view: that is something else.
    """
    return [
        node
        for node in walk(program.scope(statement))
        if isinstance(node, ast.Assign)
        and node is not statement
        and any(spelled(t) == name for t in node.targets)
        and not isinstance(node.value, ast.Constant)
        and not any(isinstance(n, ast.expr) and spelled(n) == name for n in ast.walk(node.value))
        and not _is_behind(program, growth, node)
        and (isinstance(node.value, NAMES) or _makes_history(growth, node.value))
    ]


def _is_behind(program: Program, growth: Growth, statement: ast.stmt) -> bool:
    """Whether a statement is only reached when the loop has ended, whatever goes around both."""
    loop = growth.activation.node
    if not isinstance(loop, LOOPS) or statement.lineno <= (loop.end_lineno or 0):
        return False
    around = set(program.enclosing(loop)) & set(program.enclosing(statement))
    return not any(isinstance(outer, LOOPS) for outer in around)


def _makes_history(growth: Growth, expression: ast.expr) -> bool:
    """Whether an expression was seen to make something with history, itself or by what it calls."""
    sites = (site for n in growth.run.machine.nodes if not n.weak for site in (n.site, *calls_of(n.chain)))
    return any(site.node is expression for site in sites)


def _other_branch(growth: Growth, statement: ast.stmt) -> list[ast.expr]:
    """`loss` of `average = loss if average is None else 0.9 * average + 0.1 * loss`."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(value, ast.IfExp):
        return []
    branches = [b for b in (value.body, value.orelse) if not isinstance(b, ast.Constant)]
    return [b for b in branches if growth.node.site.node not in ast.walk(b)]
