"""Whether what statements read may be changed between the place where they stand and that where they would run."""

from __future__ import annotations

import ast

from autodetach.machine.graph import Node, ancestors
from autodetach.machine.run import Run
from autodetach.view.changed_in_place import is_changed_in_place
from autodetach.view.handed_over import makers_of_hooks
from autodetach.view.program import Program
from autodetach.view.runs_between import between_of, earlier_than, is_stepped_by

CHANGED = "what it is computed from may be changed between the place where it was computed and that where it is read"


def doubt_of_changes(program: Program, run: Run, statements: list[ast.stmt], outer: list[Node]) -> str | None:
    """Why statements that make nodes of `outer` may make something else where these are read; None if they do not."""
    return CHANGED if _may_be_changed(program, run, statements, outer) else None


def _may_be_changed(program: Program, run: Run, statements: list[ast.stmt], outer: list[Node]) -> bool:
    """Whether something that runs before a pass may change what the statements read.

    That passes train the leaves is what the statements are moved for.
    """
    from autodetach.view.changes import Changes

    look = Changes(program, run, statements, outer)
    if look.reads_what_passes():
        return True
    between = between_of(program, run, statements, outer)
    hooks = look.hooks()
    look.hand_on([*makers_of_hooks(program), *between.before, *(s for body in between.passes for s in body)])
    if any(look.is_change(node, direct, before=True) for node, direct in look.run_by(between.before)):
        return True
    if any(look.is_change(node, direct, before=False) for body in between.passes for node, direct in look.run_by(body)):
        return True
    if any(look.is_change(node, False, before=False) for node, _ in look.run_by(hooks)):
        return True
    behind = {n for s in (*between.before, *(s for body in between.passes for s in body)) for n in ast.walk(s)}
    if is_changed_in_place(outer, behind.difference(n for s in statements for n in ast.walk(s))):
        return True
    if is_stepped_by(between.before, run, {n for n in ancestors(outer) if n.leaf}):
        return True
    mode = look.last_mode(earlier_than(program, statements[0]), True)
    return any(look.last_mode(part, mode) is not mode for part in (between.before, *between.passes))
