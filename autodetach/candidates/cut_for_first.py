"""Two players share a forward: the first loss is cut off from what its step does not train, and the second is anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.taken_once import taken_once
from autodetach.machine.children import targets_of
from autodetach.machine.graph import Differentiation, Node, ancestors, calls_of
from autodetach.machine.run import Run
from autodetach.machine.values import Value
from autodetach.suspect import Candidate
from autodetach.view.crossings import operands_from
from autodetach.view.program import Program, listed, statement_in, text, without_retain

DOUBT = "what the first loss teaches the makers of its input is cut off, and the second is computed behind the step"


def cut_for_first(
    program: Program, run: Run, by: Differentiation, frame: object, again: list[ast.stmt], goal: ast.stmt
) -> Iterator[Candidate]:
    """`d_loss` of `D(fake.detach())`, and behind D's step `D(fake)` once more for the loss of the generator.

    Of the statements that are computed `again` before `goal`, in a frame, only those are repeated which depend on what
    was stepped. It is of use where both losses would train the makers of what these are given.
    """
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.copy_statements import CopyStatements

    before = [s for s in run.machine.steps if s.clock < by.number and s.consumed and s.what != "grad"]
    if not before:
        return
    outdated = _made_of({leaf for leaf, _ in before[-1].consumed}, by)
    nodes = {n: statement_in(n, frame) for n in by.walked if not n.leaf}
    stale = {n for n in nodes if nodes[n] in again and n in outdated}
    kept = {n for n in nodes if nodes[n] in again and n not in stale}
    first = {d for n in stale for d in n.walked_by if d.number < before[-1].clock}
    if not first or not _are_trained_by_both(run, kept, first, by):
        return
    repeated = [s for s in again if any(nodes[n] is s for n in stale)]
    taken = taken_once(program, run, repeated)
    if taken is None or taken.codemods:
        return
    edges = [(n, parent) for n in stale for parent in n.parents if parent in kept]
    places = {_given(program, child, parent, nodes[child]): None for child, parent in edges}
    if not places or None in places or any(nodes[n] in repeated for n in kept):
        return
    given = [place for place in places if place is not None]
    shown = listed(given)
    names = listed(t for s in repeated for t in targets_of(s))
    yield Candidate(
        f"detach {shown} for the first loss, and compute {names} again before `{text(by.call)}`",
        (
            *(AppendMethod(place, "detach") for place in given),
            CopyStatements(tuple(repeated), goal),
            *without_retain([*stale, *kept]),
        ),
        DOUBT,
        cuts=True,
    )


def _made_of(leaves: set[Node], by: Differentiation) -> set[Node]:
    """Of the graph of a differentiation, what some leaves lead to, and these."""
    found = set(leaves)
    for node in sorted(ancestors(by.walked), key=lambda n: n.number):
        if any(parent in found for parent in node.parents):
            found.add(node)
    return found


def _are_trained_by_both(run: Run, kept: set[Node], first: set[Differentiation], by: Differentiation) -> bool:
    """Whether a later step takes the gradient of both losses for what some nodes are made of."""
    makers = {n for n in ancestors(kept) if n.leaf}
    return any(
        leaf in makers and by in ds and not first.isdisjoint(ds)
        for s in run.machine.steps
        if s.clock > by.number and s.what != "grad"
        for leaf, ds in s.consumed
    )


def _given(program: Program, child: Node, parent: Node, statement: ast.stmt | None) -> ast.expr | None:
    """What a statement hands to the call that makes `child` of `parent`, as it is written there."""
    values: list[Value] = operands_from(child, parent)
    for site in (child.site, *calls_of(child.chain)):
        if program.statement(site.node) is statement:
            found = [e for e, v in site.operands if v in values or getattr(v, "node", None) is parent]
            return found[0] if len(found) == 1 else None
    return None
