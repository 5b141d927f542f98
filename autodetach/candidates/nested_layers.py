"""A helper that begins the states of all layers anew, and looks at the direct children of a network alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from autodetach.candidates.learned_start import ANEW
from autodetach.machine.run import Run
from autodetach.suspect import Candidate
from autodetach.view.program import text

MAX_LOOPS = 2


def layers_inside(run: Run) -> Iterator[Candidate]:
    """Go through `net.modules()` in the place of `net.children()`, where a class tells the layers that are meant."""
    from autodetach.codemods.replace_expression import ReplaceExpression

    loops = [s for s in run.machine.executed if isinstance(s, ast.For) and _asks_each(s) and _with_children(s.iter)]
    for loop in islice(sorted(loops, key=lambda s: s.lineno), MAX_LOOPS):
        every = f"{text(_with_children(loop.iter))}.modules()"
        message = f"go through `{every}`: children are only those of the first level"
        yield Candidate(message, (ReplaceExpression(loop.iter, every),), ANEW)


def _with_children(node: ast.expr) -> ast.expr | None:
    """`net` of `net.children()`."""
    if not isinstance(node, ast.Call) or node.args or node.keywords or not isinstance(node.func, ast.Attribute):
        return None
    return node.func.value if node.func.attr == "children" else None


def _asks_each(loop: ast.For) -> bool:
    """Whether all that a loop does is about those of a class: what is new to it then is of that class, too."""
    inner = loop.body[0]
    if len(loop.body) != 1 or loop.orelse or not isinstance(inner, ast.If) or inner.orelse:
        return False
    test, target = inner.test, loop.target
    return (
        isinstance(target, ast.Name)
        and isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id in ("isinstance", "hasattr")
        and len(test.args) == 2
        and isinstance(test.args[0], ast.Name)
        and test.args[0].id == target.id
    )
