"""Two losses of one pass, each with an optimizer of its own, of which the second also trains what the first one trains.

So it is in a GAN whose generator goes first, by a backward that retains the graph, and whose fake is not detached for
the discriminator: both optimizers step behind both backward calls, and the generator is trained to lose as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from autodetach.machine.events import Step
from autodetach.machine.graph import Differentiation, Loops, Node
from autodetach.machine.run import Run
from autodetach.machine.values import Opaque, Tensor
from autodetach.view.given_at import given_at


class Opposed(NamedTuple):
    """`second` gives gradient to what `step` trains, by `shared` nodes, of which its own leaves make `judged` ones.

    `fakes` are the expressions by which the network that `second` trains is given what the other one made.
    """

    first: Differentiation
    second: Differentiation
    step: Step
    shared: set[Node]
    judged: set[Node]
    fakes: list[tuple[Node, ast.expr]]


def opposed_losses(run: Run) -> Iterator[Opposed]:
    """Where `opt_d.zero_grad()` in between drops what the first loss gave, and nothing drops what the second one gives.

    The second loss also judges something else by the same weights, as `D(real)`: what only judges the fake may be meant
    to train both.
    """
    steps = [s for s in run.machine.steps if s.what == "step" and not s.guessed and not s.by_hand]
    of_pass: dict[Loops, list[Step]] = {}
    for step in steps:
        of_pass.setdefault(step.loops, []).append(step)
    seen: set[tuple[ast.Call, ast.Call]] = set()
    for step in steps:
        for first, second in _pairs(step):
            if (first.call, second.call) in seen:
                continue
            for other in of_pass[step.loops]:
                found = _opposed(step, other, first, second)
                if found is not None:
                    seen.add((first.call, second.call))
                    yield found
                    break


def _pairs(step: Step) -> Iterator[tuple[Differentiation, Differentiation]]:
    """Two walks of one pass whose gradient a step consumes together, the first of which retains the graph."""
    given = dict.fromkeys(d for _, ds in step.consumed for d in ds if d.loops == step.loops and _is_plain(d))
    for first in given:
        yield from ((first, d) for d in given if first.retain and first.number < d.number and d.call is not first.call)


def _is_plain(d: Differentiation) -> bool:
    return d.kind != "grad" and not d.create_graph and not d.raised


def _opposed(step: Step, other: Step, first: Differentiation, second: Differentiation) -> Opposed | None:
    own = {leaf for leaf, _ in step.consumed}
    theirs = {leaf for leaf, ds in other.consumed if second in ds}
    given = {d for _, ds in other.consumed for d in ds}
    walked = set(second.walked)
    shared = walked.intersection(first.walked)
    is_dropped = first not in given and not theirs.isdisjoint(first.walked)
    if not theirs or not is_dropped or not own.isdisjoint(leaf for leaf, _ in other.consumed):
        return None
    of_own = _made_of(second, own)
    of_theirs = _made_of(second, theirs)
    if not of_own or any(n.weak or n.assumed for n in of_own):
        return None
    ways = [(n, p) for n in of_own for p in n.parents if p in of_own or p in own]
    if any(n not in shared and p in shared and n not in of_theirs for n, p in ways):
        return None
    entered = [(n, p) for n, p in ways if n in of_theirs and not p.leaf and p not in of_theirs]
    if any(n not in shared and p.leaf for n, p in ways) or any(p not in shared for _, p in entered):
        return None
    if not entered or not _judges_others(second, theirs, of_own):
        return None
    fakes = [(n, e) for n, p in entered if (e := _given(n, p)) is not None]
    return Opposed(first, second, step, shared, shared & of_theirs, fakes) if len(fakes) == len(entered) else None


def _made_of(d: Differentiation, leaves: set[Node]) -> set[Node]:
    """What a differentiation walks that is made of some leaves."""
    found: set[Node] = set()
    for node in sorted(d.walked, key=lambda n: n.number):
        if not node.leaf and any(p in found or p in leaves for p in node.parents):
            found.add(node)
    return found


def _judges_others(d: Differentiation, leaves: set[Node], fakes: set[Node]) -> bool:
    """Whether a weight does the same with the fake and with something that is none."""
    of_fakes: set[tuple[Node, str]] = set()
    of_others: set[tuple[Node, str]] = set()
    for node in d.walked:
        uses = of_fakes if node in fakes else of_others
        uses.update((p, node.op) for p in node.parents if p in leaves)
    return not of_fakes.isdisjoint(of_others)


def _given(node: Node, parent: Node) -> ast.expr | None:
    """The expression by which the outermost call is given an operand."""
    operand = next((o for o in node.operands if isinstance(o, (Tensor, Opaque)) and o.node is parent), None)
    return None if operand is None else given_at(node, operand)
