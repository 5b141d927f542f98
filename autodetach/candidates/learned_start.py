"""A state that begins with a trained tensor begins with it in every pass, so that all of them train it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.candidates.moved_begin import begins_of, moved_into
from autodetach.candidates.reads import Repair
from autodetach.machine.activations import Activation, pass_of
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.interpreter import Machine
from autodetach.machine.program_values import Class, Frame, Instance
from autodetach.machine.spelling import arguments_of
from autodetach.machine.values import Tensor, Value
from autodetach.node_types import LOOPS
from autodetach.view.crossings import Crossed
from autodetach.view.program import Program

ANEW = "the state then begins anew in every pass; only its author knows how long it is meant to live"


def begun_with_leaf(
    program: Program, machine: Machine, activation: Activation, names: Collection[str], there: list[Crossed]
) -> Iterator[Repair]:
    """`h = h0` moves from before the loop to its begin, where `h0` is a leaf that requires grad.

    So does `state = State({"h": h0})`, which makes an object that begins with it, and `h = None`, where the network
    takes a leaf of its own in place of that.
    """
    loop, frame = activation.node, activation.frame
    if not isinstance(loop, LOOPS) or not isinstance(frame, Frame) or not names:
        return
    block = program.block(loop)
    before, behind = block[: block.index(loop)], block[block.index(loop) + 1 :]
    is_learned = _is_learned(machine, loop, there)
    moving = begins_of(program, loop, before, names, lambda s: _begins(frame, s) or (is_learned and _is_none(s)))
    if moving and not any(set(names) & program.names_read(s) for s in behind):
        yield moved_into(loop, moving)


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


def _is_none(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value is None
        and all(isinstance(t, ast.Name) for t in statement.targets)
    )


def _is_learned(machine: Machine, loop: ast.AST, there: list[Crossed]) -> bool:
    """Whether the first pass takes a leaf that requires grad where later ones take a state, and have no use for it."""
    for reader, _, _ in there:
        now = next((p for p in reader.loops if p.activation.node is loop), None)
        if now is None:
            continue
        alike = [n for n in machine.nodes if n.site.node is reader.site.node]
        first = [n for n in alike if (p := pass_of(n.loops, now.activation)) is not None and p.index == 0]
        used = {leaf for n in machine.nodes if now in n.loops for leaf in n.parents if leaf.leaf}
        if any(_trains(n) and n not in used for n in ancestors(first)):
            return True
    return False


def _trains(node: Node) -> bool:
    return node.leaf and not node.weak and not node.frozen


def _given(call: ast.Call) -> Iterator[ast.expr]:
    """What a call is given, alone or in displays."""
    queue: list[ast.expr | None] = [*arguments_of(call)]
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
