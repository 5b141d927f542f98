"""A state that begins with a trained tensor begins with it in every pass, so that all of them train it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.candidates.reads import Repair
from autodetach.machine.graph import Activation
from autodetach.machine.values import Class, Frame, Instance, Tensor, Value
from autodetach.view.program import LOOPS, Program, text

ANEW = "the state then begins anew in every pass; only its author knows how long it is meant to live"


def begun_with_leaf(program: Program, activation: Activation, names: Collection[str]) -> Iterator[Repair]:
    """`h = h0` moves from before the loop to its begin, where `h0` is a leaf that requires grad.

    So does `state = State({"h": h0})`, which makes an object that begins with it.
    """
    from autodetach.codemods.move_statements import MoveStatements

    loop, frame = activation.node, activation.frame
    if not isinstance(loop, LOOPS) or not isinstance(frame, Frame) or not names:
        return
    block = program.block(loop)
    before = block[: block.index(loop)]
    moving = [s for s in before if program.names_bound(s) & set(names)]
    bound = {name for s in moving for name in program.names_bound(s)}
    if bound != set(names) or not all(_begins(frame, s) for s in moving):
        return
    between = [s for s in before[before.index(moving[0]) :] if s not in moving]
    behind = block[block.index(loop) + 1 :]
    sources = {name for s in moving for name in program.names_read(s)}
    if sources & program.names_bound(loop) or not program.may_pass(moving, between):
        return
    if any(bound & program.names_read(s) for s in behind):
        return
    shown = ", ".join(f"`{text(s)}`" for s in moving)
    yield f"begin each pass with {shown}", (MoveStatements(tuple(moving), loop.body[0]),)


def _begins(frame: Frame, statement: ast.stmt) -> bool:
    """Whether a statement does nothing but give names to leaves that require grad, or make an object with one."""
    if not isinstance(statement, ast.Assign) or not all(
        isinstance(t, (ast.Name, ast.Tuple)) for t in statement.targets
    ):
        return False
    if isinstance(statement.value, ast.Call):
        made = _value(frame, statement.value.func)
        return isinstance(made, Class) and any(_is_leaf(_value(frame, n)) for n in _given(statement.value))
    parts = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
    return all(_is_leaf(_value(frame, part)) for part in parts)


def _given(call: ast.Call) -> Iterator[ast.expr]:
    """What a call is given, alone or in displays."""
    queue: list[ast.expr | None] = [*call.args, *(k.value for k in call.keywords)]
    while queue:
        expression = queue.pop()
        if isinstance(expression, (ast.Tuple, ast.List)):
            queue += expression.elts
        elif isinstance(expression, ast.Dict):
            queue += expression.values
        elif expression is not None:
            yield expression


def _is_leaf(value: Value) -> bool:
    return isinstance(value, Tensor) and value.node is not None and value.node.leaf and not value.node.weak


def _value(frame: Frame, expression: ast.expr) -> Value:
    """What `h0` or `self.h0` is in a frame; None where it is spelled otherwise."""
    if isinstance(expression, ast.Name):
        return frame.names.get(expression.id, frame.top.names.get(expression.id))
    if isinstance(expression, ast.Attribute) and isinstance(expression.value, ast.Name):
        owner = frame.names.get(expression.value.id)
        return owner.attrs.get(expression.attr) if isinstance(owner, Instance) else None
    return None
