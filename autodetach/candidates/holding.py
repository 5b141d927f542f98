"""What holds a value, between where that is computed and the loop that reads it: it moves with the value."""

from __future__ import annotations

import ast

from autodetach.machine.children import targets_of, walk
from autodetach.machine.program_values import External, Frame, Instance
from autodetach.machine.spelling import arguments_of, spelled
from autodetach.view.program import Program, line

DISPLAYS = (ast.Tuple, ast.List, ast.Dict)
DISTRIBUTIONS = "torch.distributions."
CONSTANTS = frozenset(f"torch.{name}" for name in "arange eye full linspace ones zeros".split())
READING = frozenset("items keys values get index count".split())
"""Methods of a list or dict that leave it as it is."""


def with_holders(program: Program, statements: list[ast.stmt], anchor: ast.stmt, frame: object) -> list[ast.stmt]:
    """The statements, and those behind them that put what they bind into a distribution or a display.

    So `dist = Normal(mean, std)` belongs to `std = log_std.exp()`. Nothing is added that begins a state.
    """
    block = program.block(statements[0])
    if not isinstance(frame, Frame) or statements[0] not in block:
        return statements
    found = list(statements)
    for statement in block[block.index(statements[0]) :]:
        if line(statement) >= line(anchor) or any(at is statement for at in program.enclosing(anchor)):
            break
        bound = {name for s in found for name in program.names_bound(s)}
        if statement not in found and program.names_read(statement) & bound and _holds(program, statement, frame):
            found.append(statement)
    return sorted(found, key=line)


def _holds(program: Program, statement: ast.stmt, frame: Frame) -> bool:
    targets = targets_of(statement)
    names = {t.id for t in targets if isinstance(t, ast.Name)}
    if not isinstance(statement, ast.Assign) or len(names) < len(targets):
        return False
    if isinstance(statement.value, ast.Call):
        is_made = all(_is_distribution(frame.names.get(name)) for name in names)
        return is_made and all(_is_put_in(part, frame) for part in arguments_of(statement.value))
    if not isinstance(statement.value, DISPLAYS) or not _is_as_it_was(statement.value):
        return False
    return not any(_is_changed(program, n, names) for n in walk(program.scope(statement)))


def _is_put_in(value: ast.expr, frame: Frame) -> bool:
    """Whether what a distribution is given is as it was: names, in other distributions too, beside constant tensors."""
    if isinstance(value, ast.Call):
        path = _path(value.func, frame)
        is_inner = path.startswith(DISTRIBUTIONS) and path.rpartition(".")[2][:1].isupper()
        is_constant = path in CONSTANTS and not any(keyword.arg == "requires_grad" for keyword in value.keywords)
        return (is_inner or is_constant) and all(_is_put_in(part, frame) for part in arguments_of(value))
    if isinstance(value, (ast.Tuple, ast.List)):
        return all(_is_put_in(part, frame) for part in value.elts)
    return _is_as_it_was(value)


def _path(callee: ast.expr, frame: Frame) -> str:
    """The dotted path of what is called, if that was imported."""
    first, dot, rest = spelled(callee).partition(".")
    at: Frame | None = frame
    while at is not None and first not in at.names:
        at = at.outer
    found = None if at is None else at.names[first]
    return f"{found.path}{dot}{rest}" if isinstance(found, External) else ""


def _is_as_it_was(value: ast.expr) -> bool:
    """Whether what is put somewhere is what names stand for, and nothing made of it: `scale.detach()` is a constant."""
    return not any(isinstance(n, (ast.Call, ast.Attribute, ast.BinOp)) for n in ast.walk(value))


def _is_changed(program: Program, node: ast.AST, names: set[str]) -> bool:
    """`kept.append(x)`, `kept[0] = x` and `kept += [x]`, of one of these names."""
    if not isinstance(node, ast.Name) or node.id not in names:
        return False
    around = program.parents.get(node)
    if isinstance(around, ast.Attribute):
        return around.attr not in READING
    if isinstance(around, ast.Subscript):
        return not isinstance(around.ctx, ast.Load)
    return isinstance(around, ast.AugAssign)


def _is_distribution(value: object) -> bool:
    """What is made of parameters, and keeps nothing else. What a tensor is made of them may be meant as a constant."""
    return isinstance(value, Instance) and isinstance(value.cls, External) and value.cls.path.startswith(DISTRIBUTIONS)
