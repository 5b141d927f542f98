"""What is called by its text, where a part of that is written otherwise."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from autodetach.machine.spelling import spelled
from autodetach.node_types import FUNCTIONS
from autodetach.view.program import Program, place_text


def respelled(program: Program, part: ast.expr, new: str) -> Iterator[tuple[str, str]]:
    """What is called that has a part in it, with `new` for that and as it was: `(x * torch.tensor(a)).sum`."""
    word = re.compile(rf"(?<![\w.]){re.escape(spelled(part))}(?!\w)")
    for at in program.enclosing(part):
        if isinstance(at, FUNCTIONS):
            return
        if isinstance(at, ast.Call) and part in ast.walk(at.func):
            was = place_text(at.func)
            yield word.sub(lambda _: new, was), was
