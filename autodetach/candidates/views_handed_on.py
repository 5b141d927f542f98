"""A function takes parts of buffers, hands them on, and writes into the buffers: it hands on copies."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.copied import COPIED, buffer_of
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.events import StaleSaved
from autodetach.machine.graph import calls_of
from autodetach.machine.spelling import spelled
from autodetach.machine.torch_semantics import lookup
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.assigned import assigned
from autodetach.view.program import Program, line, listed


def handed_on_copies(program: Program, event: StaleSaved) -> Iterator[Candidate]:
    """`step(kept[0][:, k])` in front of `kept[0][:, k] = new`, and parts that come out of a loop over `kept`.

    What saves them is another function, which knows them by other names.
    """
    from autodetach.codemods.append_method import AppendMethod

    written = _written_part(event.changed.node)
    if written is None or program.scope(event.node.site.node) is program.scope(written):
        return
    function, buffers = program.scope(written), buffer_of(written)
    if not isinstance(function, ast.FunctionDef) or buffers is None or _writes_into_given(program, event, function):
        return
    depth = _levels(written.value)
    own = [n for n in walk(function) if program.scope(n) is function]
    names = {spelled(buffers): depth}
    if depth:
        names |= {name: depth - 1 for n in own if (name := _bound_by_loop(n, spelled(buffers)))}
    views = [n for n in own if isinstance(n, ast.Subscript) and _is_view(program, n, names) and line(n) < line(written)]
    if views:
        edits = tuple(AppendMethod(e, "clone") for e in views)
        yield Candidate(f"hand on a copy of {listed(views)}", edits, COPIED)


def _writes_into_given(program: Program, event: StaleSaved, function: ast.FunctionDef) -> bool:
    """Whether a function on the way from one to the other changes what it is given: a copy would not show that."""
    for place in (event.node.site.node, *(site.node for site in calls_of(event.node.chain))):
        scope = program.scope(place)
        if scope is function:
            return False
        own = (n for n in walk(scope) if program.scope(n) is scope)
        if any(not _is_own(scope, name) for n in own if (name := _changed_name(n))):
            return True
    return False


def _changed_name(node: ast.AST) -> str:
    """`x` of `x += 1`, `x[k] = y` and `x[k].mul_(2)`."""
    changed: ast.expr | None = None
    if isinstance(node, ast.AugAssign):
        changed = node.target
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        changed = node
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        is_in_place = node.func.attr.endswith("_") and not node.func.attr.startswith("_")
        changed = node.func.value if is_in_place else None
    base = None if changed is None else buffer_of(changed)
    return base.id if isinstance(base, ast.Name) else ""


def _is_own(scope: ast.AST, name: str) -> bool:
    """Whether all that has a name in a function was computed there."""
    given = all_parameter_names(scope.args) if isinstance(scope, FUNCTIONS) else set()
    values = [v for n in walk(scope) for t, v in assigned(n) if isinstance(t, ast.Name) and t.id == name]
    return (
        name not in given and bool(values) and all(isinstance(v, (ast.Call, ast.BinOp, ast.Constant)) for v in values)
    )


def _written_part(node: ast.AST) -> ast.Subscript | None:
    """`p[k]` of `p[k] = x`; of `p[0][k] += x` and `p[0][k].copy_(x)`, too, where `p` may be a list of buffers."""
    if isinstance(node, ast.Subscript):
        return node
    part: ast.expr | None = node.target if isinstance(node, ast.AugAssign) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        part = node.func.value
    return part if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Subscript) else None


def _levels(node: ast.expr) -> int:
    """How many subscripts lead from what has a name to a part of it."""
    count = 0
    while isinstance(node, ast.Subscript):
        node, count = node.value, count + 1
    return count


def _bound_by_loop(node: ast.AST, buffers: str) -> str:
    """`one` of `for one in buffers[1:]`, in a comprehension too."""
    if not isinstance(node, (ast.For, ast.comprehension)) or not isinstance(node.target, ast.Name):
        return ""
    over = node.iter
    while isinstance(over, ast.Subscript) and isinstance(over.slice, ast.Slice):
        over = over.value
    is_over = isinstance(over, (ast.Name, ast.Attribute)) and spelled(over) == buffers
    return node.target.id if is_over else ""


def _is_view(program: Program, node: ast.Subscript, names: dict[str, int]) -> bool:
    """Whether it is a part of a buffer, and not of a list of them, that is read, and not written into by a method."""
    around = program.parents.get(node)
    if not isinstance(node.ctx, ast.Load) or (isinstance(around, ast.Subscript) and around.value is node):
        return False
    if isinstance(around, ast.Attribute) and (around.attr.endswith("_") or not lookup(around.attr).view):
        return False
    base = buffer_of(node)
    depth = None if base is None else names.get(spelled(base))
    levels = _levels(node)
    if depth is None or levels <= depth:
        return False
    part: ast.expr = node
    while isinstance(part, ast.Subscript):
        if levels <= depth and isinstance(part.slice, ast.Slice):
            return False
        part, levels = part.value, levels - 1
    return True
