"""Whether something that is changed in place has several names, by all of which the change is seen.

A number in its place would be another one under each of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import walk
from autodetach.machine.growth import Growth
from autodetach.machine.held import graph_in
from autodetach.machine.program_values import Frame, Instance
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Opaque, Tensor, Value
from autodetach.node_types import FUNCTIONS, LOOPS
from autodetach.view.program import Program


def has_other_names(program: Program, growth: Growth, target: ast.AST) -> bool:
    """Whether a sum that is changed in place is what two names are bound to, or what a container holds too."""
    summed = {v for v in growth.node.operands[:1] if isinstance(v, Tensor) and v.storage.version}
    if not summed:
        return False
    if any(sum(v in graph for graph in _held(growth)) > 1 for v in summed):
        return True
    return _is_named_again(program, growth, spelled(target)) or _changes_what_is_stored(program, growth)


def _held(growth: Growth) -> Iterator[set[Tensor | Opaque]]:
    """The tensors that each name holds where the loop is, and each attribute of its object."""
    frame = growth.activation.frame
    if isinstance(frame, Frame):
        this = frame.this
        parts: list[Value] = list(this.attrs.values()) if isinstance(this, Instance) else []
        named = [v for v in frame.names.values() if v is not this]
        yield from (set(graph_in(value)) for value in (*parts, *named))


def _changes_what_is_stored(program: Program, growth: Growth) -> bool:
    """Whether a container was given the sum, on any path, and the place that sums has changed it after that."""
    place = growth.node.site.node
    return any(
        event.site.node is not place
        and isinstance(event.tensor, Tensor)
        and event.tensor.storage.changed is not None
        and event.tensor.storage.changed.node is place
        and event.tensor.storage.changes > event.version
        for run in program.runs
        for event in run.machine.stored
    )


def _is_named_again(program: Program, growth: Growth, target: str) -> bool:
    """Whether something else is bound to the sum, or it is yielded, where that is changed again afterwards."""
    for n in walk(_repeated(program, growth.node.site.node, target)):
        if isinstance(n, (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Yield)) and n.value is not None:
            parts = n.value.elts if isinstance(n.value, (ast.Tuple, ast.List)) else [n.value]
            if any(spelled(part) == target for part in parts):
                return True
    return False


def _repeated(program: Program, place: ast.AST, target: str) -> ast.AST:
    """The outermost loop around a place that does not begin the sum anew, or the function, if it stands in none."""
    around: ast.AST | None = None
    for at in program.enclosing(place):
        if isinstance(at, LOOPS):
            if around is not None and _begins(at, target):
                break
            around = at
        elif isinstance(at, FUNCTIONS):
            return at if around is None else around
    return place if around is None else around


def _begins(loop: ast.AST, target: str) -> bool:
    """Whether a loop sets the sum to something else: `total = 0`."""
    assigned = (n for n in walk(loop) if isinstance(n, ast.Assign))
    return any(spelled(part) == target for n in assigned for t in n.targets for part in ast.walk(t))
