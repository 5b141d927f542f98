"""An entry that a loop over its container rebinds, `params[key] = p - lr * p.grad`, is updated in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.in_place_updates import KEPT, OTHERWISE
from autodetach.machine.children import targets_of, walk
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.alike import is_alike
from autodetach.view.kept import are_elements_kept
from autodetach.view.own_gradient import EntryUpdate
from autodetach.view.program import Program

ZEROING = ("grad.zero_", "grad.data.zero_")


def of_entries(program: Program, updates: list[EntryUpdate]) -> Iterator[Candidate]:
    """Update the entries in place; their gradient goes behind that, as new tensors have none, if no loop zeroes it."""
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.update_in_place import UpdateInPlace

    statements = tuple(one.statement for one in updates)
    entries = [t for s in statements for t in s.targets if isinstance(t, ast.Subscript)]
    doubt = None if is_alike(program, statements) else OTHERWISE
    if any(are_elements_kept(program, s, e.value) for s, e in zip(statements, entries, strict=False)):
        doubt = KEPT
    shown = ", ".join(dict.fromkeys(f"`{spelled(e)}`" for e in entries))
    forgetting = [
        InsertStatement(one.statement, f"{spelled(one.reader.value)}.grad = None")
        for one, entry in zip(updates, entries, strict=False)
        if not _is_zeroed(program, entry.value)
    ]
    yield Candidate(f"update {shown} in place", (UpdateInPlace(statements, wrap=False), *forgetting), doubt)


def _is_zeroed(program: Program, container: ast.expr) -> bool:
    """Whether the program zeroes gradients in a loop over a container, or sets them to None."""
    loops = (n for n in walk(program.file_of(container)) if isinstance(n, ast.For))
    over = (loop for loop in loops if any(spelled(n) == spelled(container) for n in _expressions(loop.iter)))
    return any(map(_zeroes, (n for loop in over for n in walk(loop))))


def _expressions(around: ast.expr) -> Iterator[ast.expr]:
    return (n for n in ast.walk(around) if isinstance(n, ast.expr))


def _zeroes(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return spelled(node.func).endswith(ZEROING)
    targets = targets_of(node) if isinstance(node, ast.stmt) else []
    return any(isinstance(t, ast.Attribute) and t.attr == "grad" for t in targets)
