"""What is written into a part of a tensor that was saved as it was: the saved one is a copy."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.made import is_new, made_in_scope
from autodetach.machine.children import walk
from autodetach.machine.events import StaleSaved
from autodetach.machine.graph import Node
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Sequence, Value
from autodetach.suspect import Candidate
from autodetach.view.program import Program, listed, text

HELD_BY_MAKER = "what has made it may hold it, and keeps the value that it had"
COPIED = "gradient through values of earlier passes may be what was meant"


def written_copy(program: Program, event: StaleSaved) -> Iterator[Candidate]:
    """`p = softmax(x)` -> `p = softmax(x).clone()`, where `p[k] = 0` follows and `softmax` has saved its result.

    It serves all changes that follow, too.
    """
    from autodetach.codemods.append_method import AppendMethod

    part = written_tensor(event.changed.node)
    made = None if part is None else made_in_scope(program, event.changed.node, spelled(part))
    if made is None or not any(inner is event.node.site.node for inner in ast.walk(made.value)):
        return
    doubt = None if is_new(program, made.value) else HELD_BY_MAKER
    yield Candidate(f"write into a copy: `{text(made)}`", (AppendMethod(made.value, "clone"),), doubt)


def written_tensor(node: ast.AST) -> ast.Name | ast.Attribute | None:
    """The tensor that is written: `p` of `p[k]` as a target, of `p[k] += 1` and of `p[k].mul_(2).add_(1)`."""
    if isinstance(node, ast.AugAssign):
        node = node.target
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return buffer_of(node)


def buffer_of(view: ast.AST) -> ast.Name | ast.Attribute | None:
    """The tensor that `p`, `p[k]` and `p[:, :n]` are of; of `p["k"][:n]`, what has that name."""
    while isinstance(view, ast.Subscript):
        view = view.value
    return view if isinstance(view, (ast.Name, ast.Attribute)) else None


def whole_view(program: Program, buffer: ast.expr) -> ast.expr:
    """`kept[:, :n]` around `kept`: of a part, only that is copied."""
    around = program.parents.get(buffer)
    while isinstance(around, ast.Subscript) and around.value is buffer:
        buffer, around = around, program.parents.get(around)
    return buffer


def read_copy(program: Program, event: StaleSaved) -> Iterator[Candidate]:
    """A buffer that is written behind its use: compute with a copy of it, and write values without their graph."""
    from autodetach.codemods.append_method import AppendMethod

    statement = program.statement(event.changed.node)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Subscript):
        return
    written = spelled(statement.targets[0].value)
    views = [e for e, value in operands_of(event.node) if getattr(value, "storage", None) is event.storage]
    buffers = (n for e in views for n in ast.walk(e) if isinstance(n, (ast.Name, ast.Attribute)))
    buffer = next((n for n in buffers if spelled(n) == written), None)
    if buffer is None:
        return
    read = whole_view(program, buffer)
    copy = AppendMethod(read, "clone")
    shown = f"compute with a copy of `{text(read)}`"
    begins_anew = made_in_scope(program, statement, written) is not None
    yield Candidate(shown, (copy,), None if begins_anew else COPIED)
    values = [s.value for s in walk(program.scope(statement)) if isinstance(s, ast.Assign) and _writes(s, written)]
    for chosen in ([statement.value], values) if len(values) > 1 else ([statement.value],):
        parts = listed(chosen)
        codemods = (copy, *(AppendMethod(value, "detach") for value in chosen))
        # What an object keeps from step to step, like a memory of features, is rarely meant to be trained through.
        yield Candidate(f"{shown}, and detach {parts} where it is written", codemods, COPIED, cuts="." in written)


def operands_of(node: Node) -> Iterator[tuple[ast.expr, Value]]:
    """What an operation is given, each of `einsum("nc,ck->nk", [q, self.queue])` too."""
    for expression, value in node.site.operands:
        yield expression, value
        if not isinstance(expression, (ast.List, ast.Tuple)) or not isinstance(value, Sequence):
            continue
        if len(expression.elts) == len(value.items):
            yield from zip(expression.elts, value.items, strict=True)


def _writes(statement: ast.Assign, written: str) -> bool:
    """Whether it sets an element of what is written, `self.rows[k] = x`, and be it of a part of that."""
    target = statement.targets[0]
    is_part = isinstance(target, ast.Subscript)
    while isinstance(target, ast.Subscript):
        target = target.value
    return is_part and len(statement.targets) == 1 and spelled(target) == written
