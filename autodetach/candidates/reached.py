"""Whether what is bound in a loop is there for those that read it elsewhere."""

from __future__ import annotations

import ast

from autodetach.machine.children import walk
from autodetach.node_types import LOOPS
from autodetach.view.program import Program

BRANCHES = (ast.If, ast.Try, ast.Match, ast.ExceptHandler, *LOOPS)


def is_out_of_reach(program: Program, name: ast.Name, anchor: ast.stmt) -> bool:
    """Whether a name is read where another branch may have come by than the one that has the loop of `anchor`.

    What stands behind the loop in its own block is reached if the loop makes a pass.
    """
    loop = program.parents.get(anchor)
    around = set(program.enclosing(name))
    if not isinstance(loop, LOOPS) or loop in around or not isinstance(name.ctx, ast.Load):
        return False
    if program.scope(name) is not program.scope(anchor):
        return False
    inside = next((at for at in program.enclosing(name) if isinstance(at, BRANCHES) and loop in ast.walk(at)), None)
    if inside is not None and not _is_in_block_of(program, name, loop, inside):
        return True
    return any(isinstance(at, BRANCHES) and at not in around for at in program.enclosing(loop) if at is not loop)


def _is_in_block_of(program: Program, name: ast.Name, loop: ast.stmt, branch: ast.AST) -> bool:
    """Whether both stand in the same block of a branch: its body, or what stands under `else`."""
    around = {*program.enclosing(loop), loop}
    mine = {*program.enclosing(name)}
    blocks = [getattr(branch, field, None) for field in ("body", "orelse", "handlers", "finalbody", "cases")]
    return any(block and not around.isdisjoint(block) and not mine.isdisjoint(block) for block in blocks)


def read_behind(program: Program, statements: list[ast.stmt], loop: ast.AST | None) -> bool:
    """Whether what the statements bind is read in their scope where neither they nor the loop stand around it."""
    bound = {name for s in statements for name in program.names_bound(s)}
    inside = {*statements, loop}
    home = program.scope(statements[0])
    return any(
        isinstance(n, ast.Name)
        and n.id in bound
        and isinstance(n.ctx, ast.Load)
        and inside.isdisjoint(program.enclosing(n))
        for n in walk(home)
    )
