"""Elements picked by places that nobody knows, each perhaps another one: `for i in torch.randperm(n): losses[i]`."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator

from autodetach.machine.activations import Activation, diverge
from autodetach.machine.core import Core
from autodetach.machine.events import Drawn, Step
from autodetach.machine.extents import Extent, surely_meet
from autodetach.machine.graph import Differentiation, Node, Site, ancestors


def perhaps_others(m: Core, d: Differentiation) -> frozenset[Node]:
    """Of what a differentiation walks again, what only picks lead to that may be other elements, not walked so far."""
    picks = [draw for draw in m.drawn if draw.place is not None and draw.clock < d.number]
    taken = {n for draw in picks for n in draw.taken if n.walked_by}
    if not taken:
        return frozenset()
    apart = set(_reached(d, taken))
    found: set[Node] = set()
    for node in taken.intersection(ancestors(d.roots)):
        own = [draw for draw in picks if node in draw.taken]
        others = own[-1].others
        if _is_picked_anew(own, node.walked_by[0], d) and not (others and all(map(_is_spent, others))):
            found.update(ancestors([node]))
            apart.update(_shared(own[-1].place))
        else:
            apart.update(ancestors([node]))
    m.spend((len(apart) + len(found)) // 8)
    return frozenset(found - apart)


def surely_stale(m: Core, d: Differentiation) -> frozenset[Node]:
    """Of what may be other elements, in slices, what a step has changed since: where it has been so for all of them."""
    found = frozenset(n for n in d.perhaps if any(storage.version != version for storage, version in n.saved))
    if not found:
        return found
    picks = [p for p in m.drawn if p.place is not None and p.clock < d.number and not d.perhaps.isdisjoint(p.taken)]
    parts = [(p, p.place) for p in picks if isinstance(p.place, Extent)]
    in_parts = {(p.clock, node) for p, _ in parts for node in p.taken}
    if any((p.clock, node) not in in_parts for p in picks for node in p.taken):
        return frozenset()
    steps = {step.site: step for step in m.steps}
    elements = dict.fromkeys(tuple(element) for _, part in parts for element in part.nodes)
    is_for_all = all(any(_is_made_before(n, steps, d) for n in ancestors(element)) for element in elements)
    return found if elements and is_for_all else frozenset()


def _is_made_before(node: Node, steps: dict[Site, Step], d: Differentiation) -> bool:
    """Whether a step has changed what a node has saved, outside the loop that has made it and others of its kind."""
    sites = (storage.changed for storage, version in node.saved if storage.version != version)
    for step in (steps[site] for site in sites if site is not None and site in steps):
        loops = {p.activation for p in step.loops} & {p.activation for p in node.loops}
        if all(p in d.loops for p in (*step.loops, *node.loops) if p.activation in loops):
            return True
    return False


def _reached(d: Differentiation, taken: set[Node]) -> Iterator[Node]:
    """What a differentiation leads to by other ways than through what was taken."""
    seen: set[Node] = set()
    stack = [root for root in d.roots if root not in taken]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            yield node
            stack += [parent for parent in node.parents if parent not in taken]


def _shared(place: Hashable) -> set[Node]:
    """What the elements of a list all lead to: which of them a slice takes is all the same for that."""
    nodes = place.nodes if isinstance(place, Extent) else []
    return set(ancestors(nodes[0])).intersection(ancestors(nodes[-1])) if len(nodes) > 1 else set()


def _is_same_place(one: Hashable, other: Hashable) -> bool:
    """Whether the same element stands at two places, or in two slices."""
    return surely_meet(one, other) if isinstance(one, Extent) and isinstance(other, Extent) else one == other


def _is_spent(node: Node) -> bool:
    """Whether an element could not be differentiated either."""
    return any(
        (n.saves and n.freed_by is not None) or any(storage.version != version for storage, version in n.saved)
        for n in ancestors([node])
    )


def _is_picked_anew(picks: list[Drawn], first: Differentiation, d: Differentiation) -> bool:
    """Whether another element may be meant than the one that `first` has differentiated."""
    last = picks[-1]
    before = {draw.place for draw in picks if draw.clock < first.number}
    others = [place for place in before if not _is_same_place(last.place, place)]
    apart = diverge(first.loops, d.loops)
    if last.clock < first.number:  # all were picked before
        return bool(others) and (apart is None or _depends(d.root_expression, apart[1].activation))
    if len(others) < len(before) and not (others and isinstance(last.place, Extent)):
        return False  # of several slices before, nobody knows which one was differentiated
    return apart is None or not _have_had_their_turn(last, apart[1].activation)


def _have_had_their_turn(draw: Drawn, loop: Activation) -> bool:
    """Whether a pass of a loop goes through all elements, in a loop of its own."""
    inside = [p.activation for p in draw.loops]
    inside = inside[inside.index(loop) + 1 :] if loop in inside else []
    return any(not _depends(items, loop) for one in inside if (items := _items_of(one)) is not None)


def _items_of(loop: Activation) -> ast.expr | None:
    """What a loop runs through; of a comprehension, that of its first `for`."""
    if isinstance(loop.node, (ast.For, ast.AsyncFor)):
        return loop.node.iter
    if isinstance(loop.node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        return loop.node.generators[0].iter
    return None


def _depends(expression: ast.expr | None, loop: Activation) -> bool:
    """Whether an expression in a loop, or in what it calls, may be another one in each pass."""
    node = loop.node
    if expression is None or node is None:
        return False
    varying = _varying(node)
    if any(part is expression for part in ast.walk(node)):
        return not varying.isdisjoint(_names(expression))
    given = (value for n in ast.walk(node) if isinstance(n, ast.Call) for value in (*n.args, *n.keywords))
    return any(not varying.isdisjoint(_names(value)) for value in given)


def _varying(loop: ast.AST) -> set[str]:
    """The names that a loop binds to its items, or counts, and those that are bound to what is made of them."""
    targets = [n.target for n in (loop, *getattr(loop, "generators", ())) if hasattr(n, "target")]
    counted = [n.target for n in ast.walk(loop) if isinstance(n, ast.AugAssign)]
    found = {name for target in (*targets, *counted) for name in _names(target)}
    assigned = [n for n in ast.walk(loop) if isinstance(n, ast.Assign)]
    for _ in assigned:
        more = {
            name for n in assigned if not found.isdisjoint(_names(n.value)) for t in n.targets for name in _names(t)
        }
        if more <= found:
            break
        found |= more
    return found


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
