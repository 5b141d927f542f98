"""Containers that take something with history in every pass, and keep it."""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterable

from autodetach.machine.activations import Activation, Pass, pass_of, within
from autodetach.machine.events import Stored
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.growth import (
    LINEAR,
    Element,
    Growth,
    freed_within,
    is_behind,
    is_kept_anyway,
    is_over_network,
    is_whole,
    makers_of_returned,
    proven,
    trains,
)
from autodetach.machine.held import containers_in, graph_kept
from autodetach.machine.loops import UNROLLED
from autodetach.machine.module_tree import is_module
from autodetach.machine.program_values import Frame
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.torch_semantics import VIEWS
from autodetach.machine.values import Sequence
from autodetach.machine.walked_stores import Walks, may_be_drawn, trained_at_end

COPIES = frozenset({"clone", "cpu", "cuda", "to"})
"""What has no more graph than what it copies, and saves nothing."""
FEW = 2
"""So many items, all of them known, are no data: a task or two for one step."""
BY_INDEX = frozenset({"index", "index_select"})
"""What saves nothing but where it picked."""


def stored_alike(run: Run) -> Iterable[list[Stored]]:
    """What one place stores into one container, but for modules, of which networks are built.

    A tree is one container, whose nodes the place itself has put into those above them: `node.children[key] = Node(p)`.
    """
    groups: dict[tuple[ast.AST, int, ast.AST | None], list[Stored]] = {}
    roots: dict[tuple[ast.AST, int, ast.AST | None], int] = {}
    for event in (*run.machine.stored, *run.machine.filled):
        if not event.node.weak and not is_module(event.value):
            place, element = event.site.node, event.element
            root = roots.get((place, id(event.container), element), id(event.container))
            if event.inner is None:
                roots.update(((place, id(inner), element), root) for inner in containers_in(event.value))
            groups.setdefault((place, root, element), []).append(event)
    return groups.values()


def growing_store(run: Run, events: list[Stored], walks: Walks, read: Collection[object]) -> Growth | None:
    """The growth of a container by what one place stores there, if it does grow.

    What other containers take as one of the expressions in `read` is differentiated from there.
    """
    last = events[-1]
    at_end = trained_at_end(run, events, walks)
    # Of what runs again where nobody in view calls it, and before that in a loop of the program, both are looked at.
    latest = {event.loops[0].activation: event for event in events if event.loops}
    for activation in dict.fromkeys(outer.activation for e in reversed(latest.values()) for outer in e.loops):
        if activation.in_forward or is_over_network(activation.node):
            continue
        growing = [e for e in events if e.how != "key" and _is_another(e, activation)]
        if isinstance(last.container, Sequence) and last.container.unwound > activation.started:
            # How often a hook is called by one differentiation nobody counts: it has taken all that this has walked.
            growing = [e for e in growing if not e.node.walked_by]
        indices = {p.index for e in growing if (p := pass_of(e.loops, activation)) is not None}
        held = {p.index for e in growing if activation.number in e.held and (p := pass_of(e.loops, activation))}
        if len(indices) < 2 or len(held) < 2 or _is_window(last, activation, indices, held):
            continue
        is_few = activation.bounded or (activation.length is not None and activation.length <= FEW)
        if activation.exact and is_few and _renewed(last, activation):
            continue
        event, within_pass = _latest(growing, activation)
        if not proven(event.node) or not _is_still_whole(events, within_pass):
            continue
        within_pass = _makers_pass(event.node, within_pass)
        freeing = freed_within((Element(event.element, event.value, event.node),), within_pass)
        used = may_be_drawn(run, growing, walks, at_end) or (
            is_whole(freeing) and (_is_released(run, event, activation) or _may_train_callers(run, event, activation))
        )
        is_short = activation.bounded and not (_is_much(event) or trains(run, activation))
        is_small = is_short or (activation.inner and not trains(run, activation))
        if not used and freeing is None and (is_small or _harmless(event.node, within_pass)):
            continue
        if not used and is_kept_anyway(event.node, within_pass, event.loops):
            continue
        if not used and _is_cut_behind_step(run, growing, activation):
            continue
        origin = first_stored(run, event, read)
        return Growth(
            "store",
            run,
            activation,
            event.node,
            (Element(origin.element, origin.value, event.node),),
            freeing is not None,
            freeing,
            True,
            not event.node.assumed,
            True,
            origin,
            used,
            event if event.inner is None else origin,
            tails=at_end,
        )
    return None


def _is_still_whole(events: list[Stored], now: Pass) -> bool:
    """Whether a tree is looked into from its root in the last pass, too; a new root has let go the rest."""
    root = events[0].container
    return root.read >= now.started or all(event.container is root for event in events)


def _is_another(event: Stored, activation: Activation) -> bool:
    """Whether a pass stores something in a container; what fills one that this holds is another matter for each."""
    own = pass_of(event.loops, activation)
    if own is None or event.inner is None:
        return own is not None
    return event.inner.container.born >= own.started


def _latest(growing: list[Stored], activation: Activation) -> tuple[Stored, Pass]:
    """What the last pass has stored that is still there: of several things at once, one that costs memory."""
    held = [(e, p) for e in growing if activation.number in e.held and (p := pass_of(e.loops, activation)) is not None]
    last = held[-1]
    together = (each for each in reversed(held) if each[1] is last[1])
    return next((each for each in together if not _cheap(each[0].node, each[1])), last)


def _is_window(stored: Stored, activation: Activation, indices: set[int], held: set[int]) -> bool:
    """Whether a container holds the last few of what it took: it has dropped the first, is cut to a length, or full."""
    if min(indices) not in held:
        return True
    container = stored.container
    if id(container) in activation.dropping:
        return True
    if not isinstance(container, Sequence):
        return False
    most = container.maxlen
    if isinstance(most, int) and len(container.items) >= most:
        return True
    return stored.how == "new key" and container.exact and not any(is_constant(item) for item in container.items)


def _is_much(event: Stored) -> bool:
    """Whether loops in loops, each of a few steps, store a lot together: in each episode, in each step of it."""
    lengths = [p.activation.usual for p in event.loops if p.activation.number in event.held]
    return len(lengths) > 1 and math.prod(length or 1 for length in lengths) > UNROLLED


def _renewed(event: Stored, activation: Activation) -> bool:
    """Whether a container is made anew in every pass of a loop around this one: it is no larger than its few steps."""
    around = [p for p in event.loops if p.started < activation.started]
    return any(event.container.born >= p.started for p in around)


def _is_begun_again(events: list[Stored], loop: ast.AST | None) -> bool:
    """Whether a loop around another one empties in every pass what that fills, or puts something new in its place."""
    filled: dict[Activation, dict[int, set[int]]] = {}
    for event in events:
        for now in event.loops:
            if now.activation.node is loop:
                break
            filled.setdefault(now.activation, {}).setdefault(now.index, set()).add(id(event.container))
    emptied = {p.activation for e in events for p in e.loops if p.activation.number not in e.held}
    return any(
        len(passes) > 1 and (around in emptied or not set.intersection(*passes.values()))
        for around, passes in filled.items()
    )


def _is_released(run: Run, event: Stored, activation: Activation) -> bool:
    """Whether a container of a few counted steps, made anew or emptied for them, is read with `detach()`: a roll-out.

    Of many steps, all activations wait for that. As many as nobody knows may be those of a batch, unrolled by a target.
    """
    loop = activation.node
    if (activation.usual or 0) > UNROLLED:
        return False
    counts = isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and spelled(loop.iter.func) == "range"
    if not counts:
        return False
    alike = [e for e in run.machine.stored if e.site.node is event.site.node and e.element is event.element]
    is_renewed = any(_renewed(e, p.activation) for e in alike for p in e.loops if p.activation.node is loop)
    if not (is_renewed or _is_begun_again(alike, loop)):
        return False
    released = [n for n in run.machine.nodes if n.let_go is not None and pass_of(n.let_go, activation) is None]
    return not {e.node for e in alike}.isdisjoint(ancestors(released))


def _may_train_callers(run: Run, event: Stored, activation: Activation) -> bool:
    """Whether a function makes what it returns of the steps of a loop: who calls it may differentiate that.

    Its graph lives as long as the result, whether this caller only looks at it or not. Of epochs, it could not be
    walked any more: each changes the parameters. What a step has searched leads to where that began, and no further.
    """
    frame = activation.frame
    if not isinstance(frame, Frame) or not activation.short or event.container.born < frame.started:
        return False
    if trains(run, activation) or _is_found_by_descent(run, event, activation):
        return False
    return event.node in makers_of_returned(frame)


def _is_found_by_descent(run: Run, event: Stored, activation: Activation) -> bool:
    """Whether all that a pass stores comes of leaves that it has made, and whose gradient it took to change them.

    So does an attack, or an inversion: `x = x - rate * torch.autograd.grad(loss(x), x)[0]`, from a start of its own.
    """
    now = pass_of(event.loops, activation)
    leaves = {n for n in ancestors([event.node]) if n.leaf}
    taken = (d for d in run.machine.differentiations if d.kind == "grad" and not d.create_graph and now in d.loops)
    asked = {leaf for d in taken for leaf in leaves.intersection(d.walked)}
    return bool(leaves) and leaves <= asked and all(now in leaf.loops for leaf in leaves)


def _harmless(node: Node, within_pass: Pass) -> bool:
    """Whether nothing says that what is stored, and never differentiated from there, costs memory in every pass."""
    walks = (d for n in ancestors([node]) if not n.leaf for d in n.walked_by)
    return node.weak or any(not d.create_graph for d in walks) or _cheap(node, within_pass)


def _is_cut_behind_step(run: Run, events: list[Stored], activation: Activation) -> bool:
    """Whether what one step has stored is detached, each by itself, behind the backward that trains what made it.

    So are the messages of a batch, which the next one reads as data: they live no longer than that batch anyway.
    """
    for event in events:
        own, cut = pass_of(event.loops, activation), event.node.let_go
        if own is None or cut is None or pass_of(cut, activation) is not None:
            continue
        around = event.loops[: event.loops.index(own)]
        if around and within(cut, around):
            made_of = set(ancestors([event.node]))
            walks = [d for d in run.machine.differentiations if d.number < event.node.let_go_at]
            if any(is_behind(d, own, around) and not made_of.isdisjoint(d.walked) for d in walks):
                return True
    return False


def _cheap(node: Node, within_pass: Pass) -> bool:
    """Whether a pass only adds, scales and picks from graph that was there before it, or views and copies leaves."""
    stack, seen = [node], set[Node]()
    older = False
    views = True
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        if within_pass not in n.loops:
            older = older or views or not n.leaf
            continue
        views = views and (n.op in VIEWS or n.op in COPIES)
        if n.saves and not (n.weak or n.op in LINEAR or n.op in BY_INDEX):
            return False
        stack.extend(n.parents)
    return older


def _makers_pass(node: Node, within_pass: Pass) -> Pass:
    """The pass whose graph is stored: the one before, where each stores what that has made, as `state = next_state`.

    What the first has made may be made once and for all.
    """
    made = pass_of(node.loops, within_pass.activation)
    return made if made is not None and 0 < made.index == within_pass.index - 1 else within_pass


def first_stored(run: Run, event: Stored, read: Collection[object] = ()) -> Stored:
    """Where the tensor itself was put into the container that `event` stores; by none of the expressions in `read`."""
    while event.inner is not None:
        event = event.inner
    if event.value is event.tensor or not (_is_named(event.element) or _is_deep(event)):
        return event
    for other in run.machine.stored:
        is_older = other.clock < event.clock and other.element not in read
        if is_older and other.tensor is event.tensor and other.value is other.tensor:
            return other
    return event


def _is_named(element: ast.expr | None) -> bool:
    return isinstance(element, (ast.Name, ast.Attribute, ast.Subscript))


def _is_deep(event: Stored) -> bool:
    """Whether a display holds a container that was filled elsewhere: `(options, experiment.run())`."""
    if not isinstance(event.element, (ast.Tuple, ast.List)) or not isinstance(event.value, Sequence):
        return False
    pairs = list(zip(event.element.elts, event.value.items, strict=False))
    holding = [part for part, value in pairs if event.tensor in list(graph_kept(value))]
    is_direct = any(value is event.tensor for _, value in pairs)
    return bool(holding) and not is_direct and all(_is_named(e) or isinstance(e, ast.Call) for e in holding)
