"""What is only kept as a value is computed under `no_grad`, where one call or a few begin all of its graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.graph import Node, ancestors, pass_of, trail_of
from autodetach.machine.growth import Growth
from autodetach.machine.module_tree import is_module
from autodetach.machine.values import Frame
from autodetach.suspect import Candidate
from autodetach.view.program import Program, line, statement_in, text

MEANT = "what else is computed there has no graph then, either"


def computed_without_graph(program: Program, growth: Growth) -> Iterator[Candidate]:
    """Put the statements that begin the graph under `no_grad`: in the innermost function first that has all of them."""
    from autodetach.codemods.under_no_grad import UnderNoGrad

    begins = [] if growth.dead else _beginnings(growth)
    seen: set[ast.stmt] = set()
    for _, frame in reversed(trail_of(begins[0]) if begins else ()):
        statements = _statements(program, begins, frame)
        if not statements or not seen.isdisjoint(statements) or not program.imports_torch(statements[0]):
            continue
        seen.update(statements)
        shown = ", ".join(f"`{text(s)}`" for s in statements)
        yield Candidate(f"compute without graph: {shown}", (UnderNoGrad(tuple(statements)),), MEANT, last_resort=True)


def _beginnings(growth: Growth) -> list[Node]:
    """What a pass computes with leaves, or with what was there before it."""
    within_pass = pass_of(growth.node.loops, growth.activation)
    own = [n for n in ancestors([growth.node]) if not n.leaf and within_pass in n.loops]
    return [n for n in own if any(p.leaf or within_pass not in p.loops for p in n.parents)]


def _statements(program: Program, begins: list[Node], frame: object) -> list[ast.stmt]:
    """The plain statements of a frame, one behind the other, in which all of them begin; not of a module."""
    function = getattr(frame, "function", None)
    if not isinstance(frame, Frame) or is_module(frame.this) or getattr(function, "name", "") == "forward":
        return []
    found = {statement_in(n, frame) for n in begins}
    ordered = sorted((s for s in found if s is not None), key=line)
    if len(ordered) < len(found) or not all(isinstance(s, (ast.Assign, ast.AnnAssign, ast.Expr)) for s in ordered):
        return []
    block = program.block(ordered[0])
    if ordered[0] not in block:
        return []
    at = block.index(ordered[0])
    return ordered if block[at : at + len(ordered)] == ordered else []
