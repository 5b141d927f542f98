"""What is taken from a generator in view that yields something else beside its tensors, as a text at its end."""

from __future__ import annotations

import ast

from autodetach.machine.spelling import last_word
from autodetach.node_types import COMPREHENSIONS, FUNCTIONS
from autodetach.view.program import Program

NO_TENSORS = (ast.Constant, ast.JoinedStr, ast.Dict, ast.List, ast.Set, ast.Tuple)


def is_yielded_otherwise(program: Program, element: ast.expr) -> bool:
    """Whether a name stands for what a generator gives that also yields what is surely no tensor."""
    return isinstance(element, ast.Name) and any(
        _gives_no_tensor(program, call) for call in _sources(program, element)
    )


def _sources(program: Program, element: ast.Name) -> list[ast.Call]:
    """The calls over whose results the loops and comprehensions around an element go that bind its name."""
    found: list[ast.Call] = []
    for at in program.enclosing(element):
        parts: list[ast.For | ast.AsyncFor | ast.comprehension] = []
        if isinstance(at, COMPREHENSIONS):
            parts += at.generators
        elif isinstance(at, (ast.For, ast.AsyncFor)):
            parts.append(at)
        for part in parts:
            if isinstance(part.target, ast.Name) and part.target.id == element.id:
                found += (n for n in ast.walk(part.iter) if isinstance(n, ast.Call))
    return found


def _gives_no_tensor(program: Program, call: ast.Call) -> bool:
    name = last_word(call.func)
    functions = (f for tree in program.analysis.trees for f in ast.walk(tree) if isinstance(f, FUNCTIONS))
    return any(function.name == name and _yields_no_tensor(program, function) for function in functions)


def _yields_no_tensor(program: Program, function: ast.AST) -> bool:
    yielded = [n for n in ast.walk(function) if isinstance(n, ast.Yield) and program.scope(n) is function]
    return len(yielded) > 1 and any(n.value is None or isinstance(n.value, NO_TENSORS) for n in yielded)
