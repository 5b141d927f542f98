"""A cache whose keys change with every pass, as with the versions of parameters: it keeps the current entry only."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.program import Program, text

MADE_ANEW = "what was kept under another key is computed again where it is asked for again"


def is_cached(program: Program, statement: ast.stmt | None) -> bool:
    """`if key not in table: table[key] = value`: what is stored is there to be read, until the key changes."""
    return _entry(program, statement) is not None


def current_entry(program: Program, statement: ast.stmt | None) -> Iterator[Candidate]:
    """`self.table[key] = value` -> `self.table = {key: value}`, if an attribute holds the table."""
    from autodetach.codemods.replace_statement import ReplaceStatement

    entry = _entry(program, statement)
    if entry is None or not isinstance(statement, ast.Assign) or not isinstance(entry.value, ast.Attribute):
        return
    # Where the table is taken to have what was never stored, it gives no gradient, which comes with the entry.
    new = ReplaceStatement(statement, "{0} = {{1}: {2}}", (entry.value, entry.slice, statement.value))
    message = f"keep the current entry of `{text(entry.value)}` only"
    yield Candidate(message, (new,), MADE_ANEW, adds=True, last_resort=True)


def _entry(program: Program, statement: ast.stmt | None) -> ast.Subscript | None:
    """The place that a statement fills, if it stands behind the test whether that is there already."""
    if not isinstance(statement, ast.Assign):
        return None
    guard = program.parents.get(statement)
    if not isinstance(guard, ast.If) or not isinstance(guard.test, ast.Compare) or statement not in guard.body:
        return None
    (entry, *others), test = statement.targets, guard.test
    if others or not isinstance(entry, ast.Subscript) or not isinstance(test.ops[0], ast.NotIn) or len(test.ops) > 1:
        return None
    is_asked = spelled(test.left) == spelled(entry.slice) and spelled(test.comparators[0]) == spelled(entry.value)
    return entry if is_asked else None
