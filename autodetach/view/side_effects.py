"""What statements do besides what they return, each time that they run: they draw random numbers, or keep a state."""

from __future__ import annotations

import ast

from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.view.program import Program, calls_of, targets_of

MADE = frozenset("dict list OrderedDict defaultdict zeros ones empty full zeros_like ones_like empty_like".split())
"""Functions that make a new container or tensor."""

CONSTRUCTORS = ("__init__", "__post_init__")


def draws_random_numbers(run: Run, statements: list[ast.stmt]) -> bool:
    """Whether statements, or what they call, draw random numbers."""
    lines = {n for s in statements for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    return any(
        site.line in lines or any(call.line in lines for call in calls_of(chain))
        for site, chain in run.machine.random_nodes
    )


def keeps_state(program: Program, run: Run, statements: list[ast.stmt]) -> bool:
    """Whether a function that statements call assigns to an attribute, or to an element of what it has not made."""
    lines = {n for s in statements for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    called: set[ast.AST] = set()
    for node in run.machine.nodes:
        sites = list(calls_of(node.chain))
        outermost = next((i for i, site in enumerate(sites) if site.line in lines), None)
        if outermost is not None:
            called |= {program.scope(place) for place in (node.site.node, *(s.node for s in sites[:outermost]))}
    return any(
        isinstance(target, (ast.Attribute, ast.Subscript)) and not _is_of_own(function, target)
        for function in called
        if isinstance(function, ast.FunctionDef) and function.name not in CONSTRUCTORS
        for statement in ast.walk(function)
        if isinstance(statement, ast.stmt)
        for target in targets_of(statement)
    )


def _is_of_own(function: ast.FunctionDef, target: ast.expr) -> bool:
    """Whether something is an element of a container that a function makes each time that it runs."""
    while isinstance(target, ast.Subscript):
        target = target.value
    if not isinstance(target, ast.Name):
        return False
    bound = [s for s in ast.walk(function) if isinstance(s, ast.stmt) and target.id in map(spelled, targets_of(s))]
    return bool(bound) and all(isinstance(s, (ast.Assign, ast.AnnAssign)) and _is_new(s.value) for s in bound)


def _is_new(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        return spelled(value.func).rpartition(".")[2] in MADE
    return isinstance(value, (ast.Dict, ast.List, ast.DictComp, ast.ListComp))
