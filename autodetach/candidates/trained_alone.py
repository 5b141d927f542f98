"""A network that stood still for one loss learns alone from the next: what that one is given is detached.

Whoever freezes the discriminators, differentiates what they say of a fake, and then has them require grad again, trains
the generator in the first phase, and the discriminators in the second.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.graph import Differentiation, Node
from autodetach.machine.operands import expression_of
from autodetach.machine.run import Run
from autodetach.suspect import Candidate
from autodetach.view.crossings import operands_from
from autodetach.view.program import handed, listed

DOUBT = "it trains what was not frozen in between, which may be meant to learn from both losses"


def trained_alone(run: Run, first: Differentiation, second: Differentiation) -> Iterator[Candidate]:
    """Detach what the phase of `second` hands from that of `first` to networks that are thawed between the two."""
    from autodetach.codemods.append_method import AppendMethod

    thawed = {n: clock for n in second.walked for clock in n.thawed if first.number < clock < second.number}
    if not thawed or not _were_asked(run, thawed, first):
        return
    begin = min(thawed.values())
    found: dict[ast.expr, None] = {}
    for d in run.machine.differentiations:
        # A loop over several losses belongs to the phase, too.
        if d.number > begin and d.kind == "backward" and d.loops[: len(first.loops)] == first.loops:
            for node, parent in _entered(d, begin):
                places = _written(node, parent)
                if not places:
                    return
                found[places[-1]] = None
    if found:
        repair = tuple(AppendMethod(e, "detach") for e in found)
        yield Candidate(f"detach {listed(found)}, of which thawed networks learn alone", repair, DOUBT, cuts=True)


def _were_asked(run: Run, thawed: dict[Node, int], first: Differentiation) -> bool:
    """Whether a loss of the first phase went through the frozen networks: it saves their weights."""
    weights = {t.storage for t in run.machine.leaf_tensors if t.leaf_node in thawed}
    return any(
        storage in weights
        for d in run.machine.differentiations
        if d.number < max(thawed.values()) and d.loops[: len(first.loops)] == first.loops
        for node in d.walked
        for storage, _ in node.saved
    )


def _entered(d: Differentiation, begin: int) -> Iterator[tuple[Node, Node]]:
    """Where a differentiation comes to what earlier ones have walked, if it trains what was thawed at `begin`."""
    if not any(clock >= begin for n in d.walked for clock in n.thawed):
        return
    for node in d.walked:
        if node.number < begin or node.leaf:
            continue
        for parent in node.parents:
            if parent.number < begin and not parent.leaf and any(o.number < begin for o in parent.walked_by):
                yield node, parent


def _written(node: Node, parent: Node) -> list[ast.expr]:
    """How an operand is written, at the innermost call that is given it first."""
    for operand in operands_from(node, parent):
        expression = expression_of(node, operand)
        return [*([] if expression is None else [expression]), *handed(node.chain, operand)]
    return []
