"""A context that keeps what is computed of parameters is opened in each pass, instead of once around the loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.graph import Activation
from autodetach.machine.spelling import last_word, spelled
from autodetach.suspect import Candidate
from autodetach.view.program import Program

KEEPING = "cached"
"""`torch.nn.utils.parametrize.cached()`."""


def opened_inside(program: Program, activation: Activation, doubt: str | None) -> Iterator[Candidate]:
    """`with parametrize.cached():` goes into the loop that it stands around."""
    from autodetach.codemods.enter_inside import EnterInside

    around, loop = kept_around(program, activation), activation.node
    if around is not None and isinstance(loop, (ast.For, ast.While)):
        message = f"enter `{spelled(around.items[0].context_expr)}` in each pass of the loop"
        yield Candidate(message, (EnterInside(around, loop),), doubt)


def kept_around(program: Program, activation: Activation) -> ast.With | None:
    """The `with` around a loop that keeps what is computed of parameters."""
    if activation.node is None:
        return None
    for around in program.enclosing(activation.node):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            break
        if isinstance(around, ast.With) and len(around.items) == 1:
            context = around.items[0].context_expr
            if isinstance(context, ast.Call) and last_word(context.func) == KEEPING:
                return around
    return None
