"""Parts of a buffer that is written step by step, as a cache of keys and values: each step computes with copies."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from autodetach.candidates.copied import COPIED, buffer_of, operands_of, whole_view, written_tensor
from autodetach.candidates.made import made_in_scope
from autodetach.machine.children import walk
from autodetach.machine.events import StaleSaved
from autodetach.machine.spelling import called_name, spelled
from autodetach.machine.torch_library import LISTS
from autodetach.machine.values import Tensor
from autodetach.suspect import Candidate
from autodetach.view.assigned import assigned
from autodetach.view.program import Program, listed, parts_of

GIVEN = "what is given a part of it does not see what is written there later"


def returned_copy(program: Program, event: StaleSaved) -> Iterator[Candidate]:
    """A function writes into buffers, and returns parts of them, `return kept[:end]`: it returns copies."""
    from autodetach.codemods.append_method import AppendMethod

    function = program.scope(event.changed.node)
    if not isinstance(function, ast.FunctionDef) or not _is_change(event.changed.node):
        return
    own = [n for n in walk(function) if program.scope(n) is function]
    written = _written(own)
    given = [part for n in own if isinstance(n, ast.Return) and n.value is not None for part in _parts(n.value)]
    parts = [part for part in given if buffer_of(part) is not None]
    views = [place for part in parts if (place := _place(program, part, function, written)) is not None]
    if views:
        edits = tuple(AppendMethod(e, "clone") for e in dict.fromkeys(views))
        yield Candidate(f"return a copy of {listed(dict.fromkeys(views))}", edits, GIVEN)


def read_copies(program: Program, event: StaleSaved) -> Iterator[Candidate]:
    """All that is read of buffers which later steps write into is copied, under the names that it has there."""
    from autodetach.codemods.append_method import AppendMethod

    if not _is_change(event.changed.node):
        return
    changing = program.scope(event.changed.node)
    written = _written([n for n in ast.walk(changing) if program.scope(n) is changing])
    # What an operation saves of one that it is given may be a copy of its own, or not: all of them are copied.
    saving = (node for node in event.by.walked if node.saves and not _is_change(node.site.node))
    given = [e for node in saving for e, value in operands_of(node) if isinstance(value, Tensor)]
    places = dict.fromkeys(place for e in given if (place := _place(program, e, changing, written)) is not None)
    if places:
        made = [made_in_scope(program, event.changed.node, name) for name in sorted(written)]
        results = [m.value for m in made if m is not None and _is_result_saved(m.value, event)]
        doubt = COPIED if None in made else None
        for copied in ([*places], [*results, *places])[: 1 + bool(results)]:
            edits = tuple(AppendMethod(e, "clone") for e in copied)
            shown = f"compute with a copy of {listed(copied)}"
            yield Candidate(shown, edits, doubt, last_resort=len(copied) > len(places))


def _is_result_saved(value: ast.expr, event: StaleSaved) -> bool:
    """Whether an operation in what makes a buffer has saved its own result, as `tanh` does, which was written since."""
    within = set(ast.walk(value))
    return any(
        node.site.node in within and storage.version != version
        for node in event.by.walked
        for storage, version in node.saved
    )


def _is_change(node: ast.AST) -> bool:
    """Whether a part of a tensor is written: `p[k] = x`, `p[k] += x`, `p[k].copy_(x)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        is_in_place = node.func.attr.endswith("_") and not node.func.attr.startswith("_")
        return is_in_place and isinstance(node.func.value, ast.Subscript)
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Subscript)
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)


def _written(nodes: list[ast.AST]) -> set[str]:
    """The tensors into which something is written."""
    return {spelled(tensor) for n in nodes if _is_change(n) and (tensor := written_tensor(n)) is not None}


def _parts(value: ast.expr) -> list[ast.expr]:
    """What a function returns, each by itself."""
    if isinstance(value, ast.Dict):
        return value.values
    return parts_of(value)


def _place(program: Program, read: ast.expr, changing: ast.AST, written: set[str]) -> ast.expr | None:
    """Where what is read is taken from a buffer that a function changes.

    That is in the expression itself, or where a name in it is given a part of the buffer.
    """
    shared = list(_shared(read))
    for node in shared:
        if _is_buffer(node, program, changing, written):
            return whole_view(program, node)
    names = {n.id for n in shared if isinstance(n, ast.Name)}
    scope = program.scope(read)
    for statement in walk(scope):
        if isinstance(statement, ast.Assign) and program.scope(statement) is scope:
            for target, value in assigned(statement):
                base = buffer_of(value)
                if isinstance(target, ast.Name) and target.id in names and _is_buffer(base, program, changing, written):
                    return value
    return None


def _shared(read: ast.expr) -> Iterator[ast.AST]:
    """The nodes of an expression whose memory its value may have: `torch.cat` makes a copy of what it is given."""
    pending: list[ast.AST] = [read]
    while pending:
        node = pending.pop(0)
        if not (isinstance(node, ast.Call) and called_name(node) in LISTS):
            yield node
            pending.extend(ast.iter_child_nodes(node))


def _is_buffer(
    node: ast.AST | None, program: Program, changing: ast.AST, written: set[str]
) -> TypeGuard[ast.Name | ast.Attribute]:
    """Whether it is one of the tensors that a function changes: a name of another function means another one."""
    if isinstance(node, ast.Name) and program.scope(node) is not changing:
        return False
    return isinstance(node, (ast.Name, ast.Attribute)) and spelled(node) in written
