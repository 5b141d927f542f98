"""What statements do besides what they return, each time that they run: they draw random numbers, or keep a state."""

from __future__ import annotations

import ast

from autodetach.machine.run import Run
from autodetach.view.program import Program, calls_of, targets_of


def draws_random_numbers(run: Run, statements: list[ast.stmt]) -> bool:
    """Whether statements, or what they call, draw random numbers."""
    lines = {n for s in statements for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    return any(
        site.line in lines or any(call.line in lines for call in calls_of(chain))
        for site, chain in run.machine.random_nodes
    )


def keeps_state(program: Program, run: Run, statements: list[ast.stmt]) -> bool:
    """Whether a function that statements call assigns to an attribute or an element."""
    lines = {n for s in statements for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    called: set[ast.AST] = set()
    for node in run.machine.nodes:
        sites = list(calls_of(node.chain))
        outermost = next((i for i, site in enumerate(sites) if site.line in lines), None)
        if outermost is not None:
            called |= {program.scope(place) for place in (node.site.node, *(s.node for s in sites[:outermost]))}
    return any(
        isinstance(target, (ast.Attribute, ast.Subscript))
        for function in called
        if isinstance(function, ast.FunctionDef) and function.name != "__init__"
        for statement in ast.walk(function)
        if isinstance(statement, ast.stmt)
        for target in targets_of(statement)
    )
