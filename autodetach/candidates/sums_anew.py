"""A sum that an object begins in its constructor, and that nothing ever sets back, begins anew behind each step."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.candidates.cover import innermost
from autodetach.machine.activations import Activation
from autodetach.machine.children import walk
from autodetach.machine.classes import linear_order
from autodetach.machine.program_values import Class, Instance
from autodetach.machine.spelling import last_word, spelled
from autodetach.suspect import Candidate
from autodetach.view.holders import Holder, Replay
from autodetach.view.moments import Moment, behind_step, placed
from autodetach.view.program import Program

ANEW = "the sum of a pass then holds nothing of earlier passes; only its author knows where it begins"
ZEROS = frozenset({"zeros", "zeros_like", "new_zeros"})


def sums_begun_anew(
    program: Program, again: Replay, d: Moment, activation: Activation, holders: Collection[Holder]
) -> Iterator[Candidate]:
    """`self.effort = self.effort + cost` goes into a loss in every pass: detached, its value would grow for ever."""
    from autodetach.codemods.insert_statement import InsertStatement

    begins = {h.text: _begin(program, h) for h in holders}
    if not begins or None in begins.values():
        return
    frame = innermost(d, holders)
    statement = placed(program, d, frame, activation.node)
    if statement is None or not program.imports_torch(statement):
        return
    anchor = behind_step(program, again.machine, d, statement, frame)
    shown = ", ".join(f"`{name}`" for name in begins)
    body = "\n".join(f"{name} = {begin}" for name, begin in begins.items())
    yield Candidate(f"begin anew: set {shown} to zero behind the step", (InsertStatement(anchor, body),), ANEW)


def _begin(program: Program, holder: Holder) -> str | None:
    """What an attribute begins with, if all that the program does with it is to add to it."""
    owner, name = holder.owner, holder.rest.removeprefix(".")
    if not isinstance(owner, Instance) or not isinstance(owner.cls, Class) or not name.isidentifier():
        return None
    begin: str | None = None
    is_added = False
    inside = {cls.node for cls in linear_order(owner.cls) if isinstance(cls, Class)}
    for tree in program.analysis.trees:
        for node in walk(tree):
            if not _writes(node, name):
                continue
            if _is_constructor(program.scope(node)) and inside.intersection(program.enclosing(node)):
                begin = zero(_value(node), holder.text)
                if begin is None:
                    return None
            elif adds(node):
                is_added = True
            else:
                return None
    return begin if is_added else None


def _writes(node: ast.AST, name: str) -> bool:
    """Whether a statement binds an attribute of this name, or a call registers it."""
    if isinstance(node, ast.Call):
        first = node.args[0] if node.args else None
        return last_word(node.func) == "register_buffer" and isinstance(first, ast.Constant) and first.value == name
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    parts = (part for target in targets if target is not None for part in ast.walk(target))
    is_statement = isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For))
    return is_statement and any(
        isinstance(p, ast.Attribute) and p.attr == name and isinstance(p.ctx, ast.Store) for p in parts
    )


def _is_constructor(scope: ast.AST) -> bool:
    return isinstance(scope, ast.FunctionDef) and scope.name == "__init__"


def _value(node: ast.AST) -> ast.expr | None:
    """What a statement assigns, or a call registers."""
    if isinstance(node, ast.Call):
        return node.args[1] if len(node.args) > 1 else None
    return getattr(node, "value", None)


def zero(value: ast.expr | None, written: str) -> str | None:
    """What writes a zero of the same kind as this one, or None if it is none."""
    if isinstance(value, ast.Constant):
        return spelled(value) if value.value in (0, 0.0) and value.value is not False else None
    if not isinstance(value, ast.Call):
        return None
    first = value.args[0] if value.args else None
    is_zero = isinstance(first, ast.Constant) and first.value in (0, 0.0)
    is_tensor = last_word(value.func) in ZEROS or (last_word(value.func) == "tensor" and is_zero)
    return f"torch.zeros_like({written})" if is_tensor else None


def adds(node: ast.AST) -> bool:
    """`self.total += cost`, `self.total = self.total + cost`."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.op, ast.Add)
    if not isinstance(node, ast.Assign) or len(node.targets) > 1:
        return False
    target, value = node.targets[0], node.value
    while isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        if spelled(value.right) == spelled(target):
            return True
        value = value.left
    return value is not node.value and spelled(value) == spelled(target)
