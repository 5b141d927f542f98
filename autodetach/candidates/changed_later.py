"""A copy of a container lacks what its maker puts into it behind the place where the copy is made."""

from __future__ import annotations

import ast

from autodetach.machine.children import walk
from autodetach.machine.spelling import spelled
from autodetach.node_types import LOOPS
from autodetach.view.program import Program, line

CHANGING = frozenset(
    "add append appendleft clear discard extend extendleft insert pop popitem popleft remove reverse rotate setdefault "
    "sort update".split()
)


def changed_later(program: Program, copied: ast.expr) -> str | None:
    """Why a copy of what a variable or an attribute holds may not be meant: others still change it."""
    if not isinstance(copied, (ast.Name, ast.Attribute)):
        return None
    name, at = spelled(copied), line(copied)
    mentions = [
        n for n in walk(program.scope(copied)) if isinstance(n, (ast.Name, ast.Attribute)) and spelled(n) == name
    ]
    begun = [n for n in mentions if not isinstance(n.ctx, ast.Load)]
    loop = next((n for n in program.enclosing(copied) if isinstance(n, LOOPS)), None)
    inside = set(walk(loop)) if loop is not None else set()
    lasts = loop is not None and inside.isdisjoint(begun)
    for mention in mentions:
        if _is_changed(program, mention):
            is_later = line(mention) > at and not any(at < line(n) <= line(mention) for n in begun)
            if is_later or (lasts and mention in inside):
                return f"a copy lacks what `{name}` takes later"
    return None


def _is_changed(program: Program, mention: ast.expr) -> bool:
    around = program.parents.get(mention)
    if isinstance(around, ast.Attribute):
        call = program.parents.get(around)
        return around.attr in CHANGING and isinstance(call, ast.Call) and call.func is around
    if isinstance(around, ast.Subscript) and around.value is mention:
        return not isinstance(around.ctx, ast.Load)
    return isinstance(around, ast.AugAssign) and around.target is mention
