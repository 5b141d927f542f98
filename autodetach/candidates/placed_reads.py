"""Lists that are read by places that a loop counts, `losses[step - 3:step + 1]`: emptied, they have others there."""

from __future__ import annotations

import ast
from collections.abc import Collection

from autodetach.machine.children import walk
from autodetach.machine.spelling import spelled
from autodetach.view.program import Program


def is_read_by_place(program: Program, lists: Collection[str], loop: ast.AST | None) -> bool:
    """Whether any of some lists is read by what counts the passes of a loop, or what a pass adds to."""
    counts = set(_counts(loop)) if loop is not None else set[str]()
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and spelled(node.value) in lists
        and any(isinstance(n, ast.Name) and n.id in counts for n in ast.walk(node.slice))
        for node in walk(program.tree)
    )


def _counts(loop: ast.AST) -> list[str]:
    """The names of a loop, and of those that its passes add to, that no loop inside of it binds anew."""
    added = [n.target for n in walk(loop) if isinstance(n, ast.AugAssign)]
    targets = [loop.target, *added] if isinstance(loop, (ast.For, ast.AsyncFor)) else added
    inner = [n.target for n in walk(loop) if isinstance(n, (ast.For, ast.comprehension)) and n is not loop]
    bound = {n.id for target in inner for n in ast.walk(target) if isinstance(n, ast.Name)}
    return [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and n.id not in bound]
