"""What statements do besides what they return, each time that they run: they draw random numbers, or keep a state."""

from __future__ import annotations

import ast

from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.view.program import Program, calls_of, targets_of
from autodetach.view.read_by import read_by

MADE = frozenset("dict list OrderedDict defaultdict zeros ones empty full zeros_like ones_like empty_like".split())
"""Functions that make a new container or tensor."""

GROWING = frozenset("add append appendleft clear extend insert pop popitem popleft remove setdefault update".split())
TAKING = frozenset("get_nowait pop popitem popleft readline recv".split())
"""Methods that take something out of what they are called on."""

CONSTRUCTORS = ("__init__", "__post_init__")


def draws_random_numbers(run: Run, statements: list[ast.stmt]) -> bool:
    """Whether statements, or what they call, draw random numbers."""
    lines = {n for s in statements for n in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    return any(
        site.line in lines or any(call.line in lines for call in calls_of(chain))
        for site, chain in run.machine.random_nodes
    )


def keeps_state(program: Program, run: Run, statements: list[ast.stmt]) -> bool:
    """Whether a function that statements call changes what it has not made: an attribute, an element, a global name."""
    return any(
        _changes_others(function, node)
        for function in read_by(program, run, statements).functions
        if function.name not in CONSTRUCTORS
        for node in ast.walk(function)
    )


def takes_away(program: Program, run: Run, statements: list[ast.stmt]) -> bool:
    """Whether statements, or functions that they call, take something away that is not there again: `next(batches)`."""
    inside = [(n, set[str]()) for s in statements for n in ast.walk(s)]
    for function in read_by(program, run, statements).functions:
        local = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        local |= all_parameter_names(function.args) if function.name != "__next__" else set()
        inside += ((n, local) for n in ast.walk(function))
    return any(_takes(node, local) for node, local in inside if isinstance(node, ast.Call))


def _takes(call: ast.Call, local: set[str]) -> bool:
    if isinstance(call.func, ast.Name):
        taken = call.args[0] if call.func.id in ("next", "anext") and call.args else None
    else:
        taken = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr in TAKING else None
    is_place = isinstance(taken, (ast.Name, ast.Attribute, ast.Subscript))
    return is_place and not (isinstance(taken, ast.Name) and taken.id in local)


def _changes_others(function: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.AST) -> bool:
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GROWING:
        owner = node.func.value
        return isinstance(owner, ast.Attribute) or (isinstance(owner, ast.Name) and owner.id in _lasting(function))
    if not isinstance(node, ast.stmt):
        return False
    targets = (t for t in targets_of(node) if isinstance(t, (ast.Attribute, ast.Subscript)))
    return any(not _is_of_own(function, target) for target in targets)


def _lasting(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The parameters of a function whose default is a container, the same in every call."""
    spec = function.args
    given = [*spec.posonlyargs, *spec.args]
    pairs = [*zip(given[len(given) - len(spec.defaults) :], spec.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None]
    return {a.arg for a, default in pairs if _is_new(default)}


def _is_of_own(function: ast.FunctionDef | ast.AsyncFunctionDef, target: ast.expr) -> bool:
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
