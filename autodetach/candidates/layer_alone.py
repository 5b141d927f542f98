"""A layer that trains itself while it runs: the loss of that is cut off from those who have made its input."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.graph import Differentiation, Node, ancestors
from autodetach.machine.module_tree import is_module
from autodetach.machine.operands import expression_of
from autodetach.machine.program_values import Frame
from autodetach.machine.run import Run
from autodetach.machine.values import Opaque, Tensor, Value
from autodetach.suspect import Candidate
from autodetach.view.program import Program, handed, listed

CUT = "what the layer's own loss teaches those who made its input is cut off, which is not what its step is for"


def layer_alone(program: Program, run: Run, first: Differentiation) -> Iterator[Candidate]:
    """`codes.loss(z.detach())` in a `forward` that differentiates it, and steps the codes by it."""
    from autodetach.codemods.append_method import AppendMethod

    frame = next((f for _, f in reversed(first.trail) if isinstance(f, Frame) and _runs_layer(f)), None)
    if frame is None:
        return
    steps = [s for s in run.machine.steps if s.what == "step" and any(f is frame for _, f in s.trail)]
    own = {leaf for s in steps for leaf, ds in s.consumed if first in ds}
    given: dict[ast.expr, None] = {}
    for node in first.walked if own else ():
        for parent in node.parents if node.number > frame.started else ():
            if parent.leaf or parent.number > frame.started:
                continue
            places = [_written(program, first, node, v) for v in node.operands if getattr(v, "node", None) is parent]
            if None in places or not own.isdisjoint(ancestors([parent])):
                return
            given.update((place, None) for place in places if place is not None)
    if given:
        codemods = tuple(AppendMethod(place, "detach") for place in given)
        yield Candidate(f"detach {listed(given)} where the layer trains itself", codemods, CUT, cuts=True)


def _runs_layer(frame: Frame) -> bool:
    return getattr(frame.function, "name", "") == "forward" and is_module(frame.this)


def _written(program: Program, d: Differentiation, node: Node, operand: Value) -> ast.expr | None:
    """How an operand is written in the function that differentiates: at the outermost call there that is given it."""
    found = [expression_of(node, operand)]
    if isinstance(operand, (Tensor, Opaque)):
        found += handed(node.chain, operand)
    here = [e for e in found if e is not None and program.scope(e) is program.scope(d.call)]
    return here[-1] if here else None
