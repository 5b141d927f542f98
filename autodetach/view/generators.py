"""What runs only when what it gives is asked for, and whether it is used up where it is made."""

from __future__ import annotations

import ast

from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word
from autodetach.node_types import DEFINITIONS, YIELDS, FunctionNode
from autodetach.view.program import Program

USING_UP = frozenset("all any list max min set sorted sum tuple".split())
"""Functions of Python that go through what they are given before they return."""


def waits(function: FunctionNode) -> bool:
    """Whether a function runs when what it gives is asked for: a generator, or a coroutine."""
    return isinstance(function, ast.AsyncFunctionDef) or any(isinstance(n, YIELDS) for n in walk(function))


def is_used_up(program: Program, call: ast.Call) -> bool:
    """Whether the generator that a call makes ends in the same expression, `sum(g.sum() for g in parts(w))`.

    Nothing in view is called meanwhile, which might change what the generator holds.
    """
    used: ast.AST = call
    part = program.parents[call]
    if isinstance(part, ast.comprehension):
        used = program.parents[part]
        if part.iter is not call or not _is_first(used, part) or _calls_what_is_in_view(program, used, call):
            return False
        if not isinstance(used, ast.GeneratorExp):
            return True
    user = program.parents[used]
    if not isinstance(user, ast.Call) or user.args != [used] or user.keywords:
        return False
    return isinstance(user.func, ast.Name) and user.func.id in USING_UP


def _is_first(whole: ast.AST, part: ast.comprehension) -> bool:
    return getattr(whole, "generators", [None])[0] is part


def _calls_what_is_in_view(program: Program, whole: ast.AST, but: ast.Call) -> bool:
    """Whether anything but a generator is called in a comprehension that a file in view defines."""
    called = {last_word(n.func) for n in ast.walk(whole) if isinstance(n, ast.Call) and n is not but}
    return any(
        isinstance(n, DEFINITIONS) and n.name in called for tree in program.analysis.trees for n in walk(tree)
    )
