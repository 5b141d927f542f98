"""What several operations have saved is changed in place, in one place or in several: a copy of it is changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.copied import written_tensor
from autodetach.candidates.made import doubt_of_holders, made_in_scope
from autodetach.machine.events import StaleSaved
from autodetach.node_types import LOOPS
from autodetach.suspect import Candidate
from autodetach.view.program import Program

HELD = "what was computed with it before, as a view of it, keeps the value that it had"


def copied_before_change(program: Program, event: StaleSaved) -> Iterator[Candidate]:
    """`h = h.clone()` in front of the first change since it was saved, which serves all that follow.

    The function has computed that tensor itself, and no loop changes it again and again.
    """
    from autodetach.codemods.insert_statement import InsertStatement

    saved = [version for node in event.by.walked for storage, version in node.saved if storage is event.storage]
    changes = [site.node for site in event.storage.changed_since(min(saved, default=event.storage.version))]
    first = changes[0] if changes else event.changed.node
    written, statement = written_tensor(first), program.statement(first)
    made = made_in_scope(program, first, written.id) if isinstance(written, ast.Name) else None
    if made is None or statement is None or not isinstance(written, ast.Name):
        return
    around = set(program.enclosing(made))
    if any(isinstance(at, LOOPS) and at not in around for at in (statement, *program.enclosing(statement))):
        return
    copy = f"{written.id} = {written.id}.clone()"
    shown = f"change a copy, which others have not saved: `{copy}`"
    doubt = doubt_of_holders(program, written.id, made, first) or HELD
    yield Candidate(shown, (InsertStatement(statement, copy, "before"),), doubt, last_resort=True)
