"""What one part of a program empties by a method of its own, as a cache, and another part leaves as it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.emptying import only_empties
from autodetach.machine.children import walk
from autodetach.machine.growth import Growth
from autodetach.machine.program_values import Frame, Instance
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.meant import method_of, object_of
from autodetach.view.program import Program, call_of

EMPTIED = "all that is kept there is given up, as it is elsewhere"


def cleared_behind(program: Program, growth: Growth, holder: ast.expr | None) -> Iterator[Candidate]:
    """Behind the differentiation, the call of `cache.clear()` that stands behind another one.

    `holder` is the attribute with the container that grows.
    """
    from autodetach.codemods.insert_statement import InsertStatement

    d = growth.freeing
    if d is None or not d.trail or not isinstance(holder, ast.Attribute):
        return
    anchor, frame = d.trail[-1]
    told: set[str] = set()
    for statement in walk(program.tree):
        call = call_of(statement) if isinstance(statement, ast.stmt) else None
        if call is None or call.args or call.keywords or not isinstance(call.func, ast.Attribute):
            continue
        owner = object_of(call.func.value, frame) if isinstance(frame, Frame) else None
        if not isinstance(owner, Instance) or holder.attr not in owner.attrs or spelled(call) in told:
            continue
        method = method_of(owner, call.func.attr)
        node = method.node if method is not None else None
        if isinstance(node, ast.FunctionDef) and only_empties(node, {holder.attr}):
            told.add(spelled(call))
            message = f"call `{spelled(call)}` here too, when it has been used"
            # As for `current_entry`: gradient comes with what is computed again.
            added = InsertStatement(anchor, spelled(call))
            yield Candidate(message, (added,), EMPTIED, adds=True, last_resort=True)
