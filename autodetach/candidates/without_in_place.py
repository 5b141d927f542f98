"""A layer or a function that is asked to work in place, on what was saved as it was: it makes a new tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.held_by_layer import doubt_of_layer
from autodetach.machine.children import walk
from autodetach.machine.events import StaleSaved
from autodetach.machine.spelling import last_word
from autodetach.machine.torch_semantics import INPLACE_AT, MODULE_INPLACE_AT
from autodetach.suspect import Candidate
from autodetach.view.program import Program, line, text

MOST = 4
"""So many layers of a program are tried, the nearest to the call first."""


def without_in_place(program: Program, event: StaleSaved) -> Iterator[Candidate]:
    """`inplace=True` -> `inplace=False`: in the call of a function, or where the layer that is called was made."""
    from autodetach.codemods.replace_expression import ReplaceExpression

    call = event.changed.node
    if not isinstance(call, ast.Call):
        return
    doubt = doubt_of_layer(program, event, call)
    own = _asked(call, INPLACE_AT)
    if own is not None:
        if not isinstance(program.parents.get(call), ast.Expr):
            yield Candidate(f"compute a new tensor: `{text(call)}`", (ReplaceExpression(own, "False"),), doubt)
        return
    made = [
        (node, flag)
        for node in walk(program.file_of(call))
        if isinstance(node, ast.Call) and (flag := _asked(node, MODULE_INPLACE_AT)) is not None
    ]
    made.sort(key=lambda layer: abs(line(layer[0]) - line(call)))
    for layer, flag in made[:MOST]:
        shown = f"make a layer that computes a new tensor: `{text(layer)}` in {program.place(layer)}"
        yield Candidate(shown, (ReplaceExpression(flag, "False"),), doubt)


def _asked(call: ast.Call, positions: dict[str, int]) -> ast.expr | None:
    """The `True` by which a call asks for work in place."""
    at = positions.get(last_word(call.func))
    if at is None:
        return None
    named = next((k.value for k in call.keywords if k.arg == "inplace"), None)
    flag = named if named is not None else call.args[at] if len(call.args) > at else None
    return flag if isinstance(flag, ast.Constant) and flag.value is True else None
