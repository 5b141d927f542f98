"""Whether all that a function does with a loss is to differentiate it: then nobody wants its value."""

from __future__ import annotations

import ast

from autodetach.machine.children import walk
from autodetach.machine.spelling import called_name
from autodetach.view.never_read import SEEING_ALL
from autodetach.view.program import Program

SCALING = frozenset({"scale", "scale_loss"})
"""What gives a loss back that only differs by a factor."""


def is_only_differentiated(program: Program, loss: ast.AST, call: ast.AST) -> bool:
    """Whether a loss, as it stands at a place, is put into a variable which only a differentiation reads."""
    return _Use(program, call).is_only_differentiated(loss)


class _Use:
    """What becomes of an expression: `names` are the variables of which each reading has been looked at."""

    def __init__(self, program: Program, call: ast.AST) -> None:
        self._program = program
        self._call = call
        self._names: set[str] = set()

    def is_only_differentiated(self, at: ast.AST) -> bool:
        around = self._program.parents.get(at)
        if at is self._call or _is_test_for_none(around):
            return True
        if isinstance(at, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = at.targets if isinstance(at, ast.Assign) else [at.target]
            return all(self._is_local(target) for target in targets)
        if isinstance(around, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.BinOp, ast.UnaryOp)):
            return self.is_only_differentiated(around)
        if isinstance(around, ast.Attribute):
            outer = self._program.parents.get(around)
            return around.attr == "backward" and isinstance(outer, ast.Call) and outer.func is around
        if isinstance(around, ast.Call) and at in around.args:
            return around is self._call or (called_name(around) in SCALING and self.is_only_differentiated(around))
        return False

    def _is_local(self, target: ast.expr) -> bool:
        """Whether a target is a variable that is only read to be differentiated, or for its next value."""
        if not isinstance(target, ast.Name):
            return False
        if target.id in self._names:
            return True
        self._names.add(target.id)
        for node in walk(self._program.scope(target)):
            if isinstance(node, (ast.Global, ast.Nonlocal)) and target.id in node.names:
                return False
            if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
                continue
            if node.id in SEEING_ALL or (node.id == target.id and not self.is_only_differentiated(node)):
                return False
        return True


def _is_test_for_none(around: ast.AST | None) -> bool:
    return isinstance(around, ast.Compare) and all(isinstance(op, (ast.Is, ast.IsNot)) for op in around.ops)
