"""What is only kept as a value, or taken for a constant, is computed under `no_grad`.

It is for what no `detach` of one expression reaches: one call, or a few, begin all of its graph, or return several
tensors or lists of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.candidates.called_by_others import is_called_by_others
from autodetach.machine.activations import Activation, pass_of
from autodetach.machine.children import targets_of
from autodetach.machine.cycles import cycle_of
from autodetach.machine.graph import Node, ancestors, trail_of
from autodetach.machine.growth import Growth
from autodetach.machine.module_tree import is_module
from autodetach.machine.program_values import Frame, Instance
from autodetach.suspect import Candidate
from autodetach.view.crossings import Entry
from autodetach.view.program import Program, line, listed, parts_of, statement_in, without_retain

MEANT = "what else is computed there has no graph then, either"


def computed_without_graph(program: Program, growth: Growth) -> Iterator[Candidate]:
    """Put the statements that begin the graph of what grows under `no_grad`, in the innermost function that has all."""
    from autodetach.codemods.under_no_grad import UnderNoGrad

    begins = [] if growth.dead else _beginnings(growth)
    seen: set[ast.stmt] = set()
    for _, frame in reversed(trail_of(begins[0]) if begins else ()):
        statements = _of_no_module(program, begins, frame)
        if frame is not growth.activation.frame and is_called_by_others(program, frame, begins):
            continue
        if not statements or not seen.isdisjoint(statements) or not program.imports_torch(statements[0]):
            continue
        seen.update(statements)
        shown = listed(statements)
        yield Candidate(f"compute without graph: {shown}", (UnderNoGrad(tuple(statements)),), MEANT, last_resort=True)


def called_without_graph(program: Program, growth: Growth) -> Iterator[Candidate]:
    """Put the statements of the analysed file under `no_grad` in which an imported one makes what grows.

    Others may train through what the imported file does.
    """
    from autodetach.codemods.under_no_grad import UnderNoGrad

    begins = _beginnings(growth)
    for _, frame in reversed(trail_of(begins[0]) if begins else ()):
        statements = _of_no_module(program, begins, frame) if frame is not growth.activation.frame else []
        if not statements or program.is_imported(statements[0]) or not program.imports_torch(statements[0]):
            continue
        if not is_called_by_others(program, frame, begins):
            shown = listed(statements)
            yield Candidate(f"compute without graph: {shown}", (UnderNoGrad(tuple(statements)),), MEANT)
        return


def built_without_graph(
    program: Program, activation: Activation, outer: list[Node], doubt: str | None
) -> Iterator[Candidate]:
    """Put the assignments before a loop under `no_grad` that bring weights to the nodes."""
    from autodetach.codemods.under_no_grad import UnderNoGrad

    begins = [n for n in outer if any(parent.leaf for parent in n.parents)]
    found = _together(program, begins, activation.frame)
    assigned = [s for s in found if isinstance(s, ast.Assign)]
    if not assigned or len(assigned) < len(found) or not program.imports_torch(found[0]):
        return
    shown = listed(t for s in assigned for t in targets_of(s))
    under, flags = UnderNoGrad(tuple(found)), without_retain(outer)
    if flags:
        yield Candidate(
            f"compute {shown} without graph, and retain no graph", (under, *flags), doubt, cuts=True, last_resort=True
        )
    yield Candidate(f"compute {shown} without graph", (under,), doubt, cuts=True, last_resort=True)


def targets_without_graph(
    program: Program, activation: Activation, outer: list[Node], doubt: str | None
) -> Iterator[Candidate]:
    """The same in a method that is called before the loop, and keeps them: `self.targets = [self.net(x) for x in xs]`.

    The innermost that has all of them, if nobody else trains through it.
    """
    from autodetach.codemods.under_no_grad import UnderNoGrad

    begins = [n for n in outer if any(parent.leaf for parent in n.parents)]
    for _, frame in reversed(trail_of(begins[0]) if begins else ()):
        found = _of_no_module(program, begins, frame) if frame is not activation.frame else []
        assigned = [s for s in found if isinstance(s, ast.Assign)]
        if not assigned or len(assigned) < len(found) or not program.imports_torch(found[0]):
            continue
        if not is_called_by_others(program, frame, begins):
            shown = listed(t for s in assigned for t in targets_of(s))
            codemods = (UnderNoGrad(tuple(found)), *without_retain(outer))
            yield Candidate(f"compute {shown} without graph", codemods, doubt, cuts=True, last_resort=True)
        return


def kept_without_graph(program: Program, entries: list[Entry], doubt: str | None) -> Iterator[Candidate]:
    """Of what an object keeps and hands out in parts, `yield self.rows[index]`: the assignments that make the whole.

    Detached as they are handed out, the parts would leave the graph of the whole where the object keeps it.
    """
    from autodetach.codemods.under_no_grad import UnderNoGrad

    makers = [maker for _, _, maker in entries]
    behind = sorted((n for n in ancestors(makers) if not n.leaf), key=lambda n: n.number)
    begins = [n for n in behind if any(parent.leaf for parent in n.parents)]
    handing = [f for maker in makers for _, f in trail_of(maker) if isinstance(f, Frame)]
    owners = [f.this for f in handing if isinstance(f.this, Instance)]
    for _, frame in reversed(trail_of(begins[0]) if begins else ()):
        is_owner = isinstance(frame, Frame) and any(frame.this is owner for owner in owners)
        found = _of_no_module(program, begins, frame) if is_owner and frame not in handing else []
        assigned = [s for s in found if isinstance(s, ast.Assign)]
        if assigned and len(assigned) == len(found) and program.imports_torch(found[0]):
            shown = listed(part for s in assigned for t in targets_of(s) for part in parts_of(t))
            yield Candidate(f"compute {shown} without graph", (UnderNoGrad(tuple(found)),), doubt)


def _beginnings(growth: Growth) -> list[Node]:
    """What a pass computes with leaves, or with what was there before it."""
    within_pass = pass_of(growth.node.loops, growth.activation)
    own = [n for n in ancestors([growth.node]) if not n.leaf and within_pass in n.loops]
    if growth.kind == "chain" and not growth.elements:  # of leaves alone: the pass before has all from link to link
        before = [(p, pass_of(p.loops, growth.activation)) for p in growth.node.parents if not p.leaf]
        own = [n for p, at in before if at is not None for n in cycle_of(p, at, growth.node.site.node)] or own
        within_pass = pass_of(own[0].loops, growth.activation)
    return [n for n in own if any(p.leaf or within_pass not in p.loops for p in n.parents)]


def _of_no_module(program: Program, begins: list[Node], frame: object) -> list[ast.stmt]:
    function = getattr(frame, "function", None)
    if not isinstance(frame, Frame) or is_module(frame.this) or getattr(function, "name", "") == "forward":
        return []
    return _together(program, begins, frame)


def _together(program: Program, begins: Iterable[Node], frame: object) -> list[ast.stmt]:
    """The plain statements of a frame in which all of them begin, if they stand one behind the other; else none."""
    found = {statement_in(n, frame) for n in begins}
    plain = (s for s in found if isinstance(s, (ast.Assign, ast.AnnAssign, ast.Expr)))
    ordered: list[ast.stmt] = sorted(plain, key=line)
    if not ordered or len(ordered) < len(found):
        return []
    block = program.block(ordered[0])
    if ordered[0] not in block:
        return []
    at = block.index(ordered[0])
    return ordered if block[at : at + len(ordered)] == ordered else []
