"""Values that are copied to weigh tensors by, which are lost as well: the weights may be meant as constants."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.machine.children import walk
from autodetach.machine.spelling import arguments_of, last_word, spelled
from autodetach.view.program import Program

BY_ITSELF = "what weighs the tensors is computed of them, too, and may be meant as constant"
WEIGHTS = frozenset("log_softmax normalize softmax softmin".split())
"""What makes weights of values."""


def weighs_itself(program: Program, copies: Iterable[ast.AST]) -> bool:
    """Whether the same tensors are copied several times, or their only copy becomes weights and is read once more."""
    given = [spelled(value) for copy in copies if isinstance(copy, ast.Call) for value in arguments_of(copy)[:1]]
    if len(given) > len(set(given)):
        return True
    return any(_is_read_twice(program, copy) for copy in copies)


def _is_read_twice(program: Program, copy: ast.AST) -> bool:
    statement = program.parents.get(copy)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    name = statement.targets[0].id
    scope = program.scope(copy)
    reads = [n for n in walk(scope) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    return len(reads) > 1 and any(_becomes_weights(program, read) for read in reads)


def _becomes_weights(program: Program, read: ast.AST) -> bool:
    """`torch.softmax(-losses / t, 0)`, `losses.softmax(0)`, `losses / losses.sum()`."""
    at, around = read, program.parents.get(read)
    while isinstance(around, (ast.UnaryOp, ast.BinOp)):
        if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Div):
            divided_by = {spelled(n) for n in walk(around.right) if isinstance(n, ast.Name)}
            if at is around.left and spelled(read) in divided_by:
                return True
        at, around = around, program.parents.get(around)
    if isinstance(around, ast.Attribute):
        return around.attr in WEIGHTS
    return isinstance(around, ast.Call) and at in around.args[:1] and last_word(around.func) in WEIGHTS
