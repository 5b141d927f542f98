"""A copy of a container lacks what its maker puts into it behind the place where the copy is made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.container_methods import CHANGING
from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word, spelled
from autodetach.node_types import FUNCTIONS, LOOPS
from autodetach.view.by_name import calls_in_view
from autodetach.view.called_with import parameters_given
from autodetach.view.program import Program, line, parts_of
from autodetach.view.read_by import functions_by_name

Named = ast.Name | ast.Attribute
DEPTH = 3
"""Through so many functions it is followed."""
ORDERING = frozenset({"reverse", "rotate", "sort"})


def changed_later(program: Program, copied: ast.expr) -> str | None:
    """Why a copy of what a variable or an attribute holds may not be meant: others still change it."""
    if not isinstance(copied, (ast.Name, ast.Attribute)):
        return None
    name, at = spelled(copied), line(copied)
    mentions = _mentions(program.scope(copied), name)
    begun = [n for n in mentions if not isinstance(n.ctx, ast.Load)]
    loop = next((n for n in program.enclosing(copied) if isinstance(n, LOOPS)), None)
    inside = set(walk(loop)) if loop is not None else set()
    lasts = loop is not None and inside.isdisjoint(begun)
    for mention in mentions:
        is_later = line(mention) > at and not any(at < line(n) <= line(mention) for n in begun)
        if (is_later or (lasts and mention in inside)) and _may_be_changed(program, mention, DEPTH):
            return f"a copy lacks what `{name}` takes later"
    return None


def _mentions(scope: ast.AST, name: str) -> list[Named]:
    return [n for n in walk(scope) if isinstance(n, (ast.Name, ast.Attribute)) and spelled(n) == name]


def _may_be_changed(program: Program, mention: ast.expr, depth: int) -> bool:
    """Whether it is changed where it is mentioned, or by who is given it there: a function, or the callers of this one.
    """
    if _is_changed(program, mention):
        return True
    if not depth:
        return False
    known, around = functions_by_name(program), program.parents.get(mention)
    if isinstance(around, ast.keyword):
        around = program.parents.get(around)
    if isinstance(around, ast.Call) and mention is not around.func:
        called = known.get(last_word(around.func), [])
        given = ((f, name) for f, name in parameters_given(program, around, called, [mention]) if name)
        return any(_is_changed_in(program, function, name, depth) for function, name in given)
    function = program.scope(mention)
    if not isinstance(program.statement(mention), ast.Return) or not isinstance(function, FUNCTIONS):
        return False
    return any(_is_changed_in(program, scope, name, depth) for scope, name in _received(program, function.name))


def _is_changed_in(program: Program, scope: ast.AST, name: str, depth: int) -> bool:
    return any(_may_be_changed(program, mention, depth - 1) for mention in _mentions(scope, name))


def _received(program: Program, name: str) -> Iterator[tuple[ast.AST, str]]:
    """The names that callers give to what a function returns, or to a part of it, and where."""
    for call in calls_in_view(program, name):
        binding = program.parents.get(call)
        for target in binding.targets if isinstance(binding, ast.Assign) else ():
            for part in parts_of(target):
                if isinstance(part, (ast.Name, ast.Attribute)):
                    yield program.scope(call), spelled(part)


def _is_changed(program: Program, mention: ast.expr) -> bool:
    around = program.parents.get(mention)
    if isinstance(around, ast.Attribute):
        call = program.parents.get(around)
        return around.attr in CHANGING | ORDERING and isinstance(call, ast.Call) and call.func is around
    if isinstance(around, ast.Subscript) and around.value is mention:
        return not isinstance(around.ctx, ast.Load)
    return isinstance(around, ast.AugAssign) and around.target is mention
