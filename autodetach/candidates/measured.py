"""What a statistic is measured of, and a loss aims at, is a constant: it is detached where the training computes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.events import StaleSaved
from autodetach.machine.graph import Node, Place, trail_of
from autodetach.machine.program_values import Frame, Instance
from autodetach.machine.run import Run
from autodetach.machine.values import Tensor
from autodetach.suspect import Candidate
from autodetach.view.program import listed

AIMED = (
    "the target of a loss is taken for a constant then, as what the statistics are made of; it may be meant to learn"
)
LOSSES = frozenset("huber_loss l1_loss mse_loss smooth_l1_loss HuberLoss L1Loss MSELoss SmoothL1Loss".split())


def target_detached(run: Run, event: StaleSaved) -> Iterator[Candidate]:
    """`returns = self.targets(rewards)`, of which `head.absorb(returns)` makes the moments by which they are scaled.

    Only if a loss has what is detached in its target alone.
    """
    from autodetach.codemods.append_method import AppendMethod

    if any(step.site is event.changed for step in run.machine.steps) or not _is_kept(event):
        return
    given = [
        value.node
        for _, value in event.changed.operands
        if isinstance(value, Tensor) and value.node is not None and value.storage is not event.storage
    ]
    inner = {frame for _, frame in event.by.trail}
    places = reversed(trail_of(given[0]) if given else ())
    place = next((p for p in places if p[1] in inner and isinstance(p[1], Frame)), None)
    made = _made_before(given, place) if place is not None else {}
    if not made or not all(isinstance(s, ast.Assign) and _binds_tensor(s) for s in made.values()):
        return
    if not all(_is_aimed_at(node, event) for node in made):
        return
    values = list(dict.fromkeys(s.value for s in made.values() if isinstance(s, ast.Assign)))
    detach = tuple(AppendMethod(value, "detach") for value in values)
    yield Candidate(f"detach {listed(values)}, which the loss aims at", detach, AIMED, cuts=True)


def _is_kept(event: StaleSaved) -> bool:
    """Whether what is changed is kept by an object whose method changes it."""
    owners = {frame.this for _, frame in event.storage.trail if isinstance(frame, Frame)}
    return any(
        isinstance(value, Tensor) and value.storage is event.storage and not value.parameter
        for owner in owners
        if isinstance(owner, Instance)
        for value in owner.attrs.values()
    )


def _made_before(given: list[Node], place: Place) -> dict[Node, ast.stmt]:
    """What a statement takes that other ones of its frame have computed with graph, each with that statement."""
    statement, frame = place
    found: dict[Node, ast.stmt] = {}
    pending, seen = list(given), set[Node]()
    while pending:
        node = pending.pop()
        if node in seen or node.leaf:
            continue
        seen.add(node)
        within = [s for s, f in trail_of(node) if f is frame]
        if statement in within:
            pending += node.parents
        elif within:
            found[node] = within[-1]
    return found


def _binds_tensor(statement: ast.Assign) -> bool:
    return len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name)


def _is_aimed_at(node: Node, event: StaleSaved) -> bool:
    """Whether what is differentiated comes to it by the targets of losses, and in no other way."""
    reached: set[Node] = set()
    pending = list(event.by.roots)
    while pending:
        at = pending.pop()
        if at in reached or at.leaf:
            continue
        reached.add(at)
        given = [v.node for _, v in at.site.operands if isinstance(v, Tensor)] if at.op in LOSSES else []
        pending += [p for p in at.parents if p not in given[1:] or p is given[0]]
    return node not in reached and node in event.by.walked
