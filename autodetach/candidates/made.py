"""Where a function has made what it changes, and who else may hold it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.container_methods import ADDING
from autodetach.machine.children import walk
from autodetach.machine.spelling import spelled
from autodetach.machine.torch_semantics import lookup
from autodetach.view.program import Program, line


def made_in_scope(program: Program, changed: ast.AST, name: str) -> ast.Assign | None:
    """The assignment that gives a variable or an attribute, by its text, what a call or an operator has computed.

    It stands on every way to the statement in which a node stands.
    """
    before = [
        s
        for s in walk(program.scope(changed))
        if isinstance(s, ast.Assign) and line(s) < line(changed) and program.scope(s) is program.scope(changed)
        and any(spelled(n) == name for t in s.targets for n in _named(t))
    ]  # fmt: skip
    last = max(before, key=line, default=None)
    if last is None or len(last.targets) > 1 or spelled(last.targets[0]) != name:
        return None
    around = [changed, *program.enclosing(changed)]
    if not any(last in program.block(at) for at in around if isinstance(at, ast.stmt)):
        return None
    if isinstance(last.value, ast.Call):
        called = last.value.func
        may_share = isinstance(called, ast.Attribute) and lookup(called.attr).view
        return None if may_share else last
    return last if isinstance(last.value, ast.BinOp) else None


def _named(target: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
    """What may be another one behind an assignment: a tensor of which a part is written, `p[k] = 0`, stays the same."""
    if isinstance(target, (ast.Name, ast.Attribute)):
        yield target
    if not isinstance(target, ast.Subscript):
        for inner in ast.iter_child_nodes(target):
            if isinstance(inner, ast.expr):
                yield from _named(inner)


def doubt_of_holders(program: Program, name: str, made: ast.Assign | None) -> str | None:
    """Why a new tensor under a name may not be meant: others may hold the old one, or nobody knows who made it."""
    is_shared = made is None or is_held(program, made, name)
    return f"what else holds `{name}` keeps the value that it had" if is_shared else None


def is_held(program: Program, made: ast.Assign, name: str) -> bool:
    """Whether something else than a name may hold what it names, or a view of it."""
    reads = (
        node
        for node in walk(program.scope(made))
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load) and line(node) > line(made)
    )
    return any(spelled(node) == name and _is_kept(program, node) for node in reads)


def _is_kept(program: Program, node: ast.expr) -> bool:
    around = program.parents.get(node)
    if isinstance(around, ast.Subscript) and around.value is node:
        return isinstance(around.ctx, ast.Load) and _is_kept(program, around)
    if isinstance(around, ast.Attribute):
        call = program.parents.get(around)
        shared = call if isinstance(call, ast.Call) and call.func is around else around
        return lookup(around.attr).view and _is_kept(program, shared)
    if isinstance(around, ast.Call):
        return isinstance(around.func, ast.Attribute) and around.func.attr in ADDING
    return isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Tuple, ast.List, ast.Dict, ast.Yield))
