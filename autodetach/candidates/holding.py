"""What holds a value, between where that is computed and the loop that reads it: it moves with the value."""

from __future__ import annotations

import ast

from autodetach.machine.values import External, Frame, Instance, Tensor
from autodetach.view.program import Program, line, targets_of

DISPLAYS = (ast.Tuple, ast.List, ast.Dict)
READING = frozenset("items keys values get index count".split())
"""Methods of a list or dict that leave it as it is."""


def with_holders(program: Program, statements: list[ast.stmt], anchor: ast.stmt, frame: object) -> list[ast.stmt]:
    """The statements, and those behind them that put what they bind into a distribution, a display or a tensor.

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
    if isinstance(statement.value, DISPLAYS):
        is_plain = not any(isinstance(n, ast.Call) for n in ast.walk(statement.value))
        return is_plain and not any(_is_changed(program, n, names) for n in ast.walk(program.scope(statement)))
    return all(_is_without_state(frame.names.get(name)) for name in names)


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


def _is_without_state(value: object) -> bool:
    if isinstance(value, Instance):
        return isinstance(value.cls, External) and value.cls.path.startswith("torch.distributions.")
    return isinstance(value, Tensor) and value.leaf_node is None
