"""How a state begins, before a loop, moves into it: every pass then begins with it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection

from autodetach.candidates.reads import Repair
from autodetach.view.program import Block, Program, listed


def begins_of(
    program: Program, loop: ast.stmt, before: Block, names: Collection[str], is_begin: Callable[[ast.stmt], bool]
) -> Block:
    """What binds `names`, and nothing else, before a loop; nothing if any of it is no begin or may not move inside."""
    moving = [s for s in before if program.names_bound(s) & set(names)]
    bound = {name for s in moving for name in program.names_bound(s)}
    if bound != set(names) or not all(is_begin(s) for s in moving):
        return []
    between = [s for s in before[before.index(moving[0]) :] if s not in moving]
    sources = {name for s in moving for name in program.names_read(s)}
    if sources & program.names_bound(loop) or not program.may_pass(moving, between):
        return []
    return moving


def moved_into(loop: ast.For | ast.AsyncFor | ast.While, moving: Block) -> Repair:
    """Each pass begins with these statements."""
    from autodetach.codemods.move_statements import MoveStatements

    shown = listed(moving)
    return f"begin each pass with {shown}", (MoveStatements(tuple(moving), loop.body[0]),)
