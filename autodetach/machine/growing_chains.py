"""Chains of nodes that get a further link in every pass: what a pass computes of what the one before has computed."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from autodetach.machine.activations import Activation, Pass, pass_of
from autodetach.machine.cycles import Places, cycle_of, places_of
from autodetach.machine.events import Crossing
from autodetach.machine.graph import Node, Site, ancestors, calls_of
from autodetach.machine.growth import (
    LINEAR,
    MOVED,
    PICKED,
    Element,
    Growth,
    freed_within,
    goes_over_network,
    is_asked_for,
    is_detached_behind,
    is_kept_anyway,
    proven,
    trains,
)
from autodetach.machine.held import contents, graph_in, held_by
from autodetach.machine.loops import UNROLLED
from autodetach.machine.module_tree import is_module
from autodetach.machine.nothing_added import adds_no_graph
from autodetach.machine.operands import expression_of
from autodetach.machine.program_values import Frame
from autodetach.machine.run import Run
from autodetach.machine.tallies import is_tally
from autodetach.machine.terms_picked import picks_each
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor


def growing_chains(run: Run) -> Iterator[Growth]:
    """Where a pass computes something of what an earlier one has computed in the same place, one for each place.

    Of a sum that a search makes of its gradients, and that others are summed up of, the inner one is told.
    """
    found: list[Growth] = []
    searched: list[tuple[Growth, set[ast.AST]]] = []
    for crossing, within, cycle in _links(run):
        child, parent, activation = crossing.child, crossing.parent, crossing.activation
        is_begun = within is not pass_of(parent.loops, activation)
        elements = tuple(_elements(cycle, within))
        is_proven = any(proven(n) for n in ([e.node for e in elements] or cycle))
        if not is_proven and not is_detached_behind(run, child, activation, elements):
            continue
        freeing = freed_within(elements, within)
        walked = freeing is not None or (not elements and _begins_freed(run, crossing, cycle))
        linear = all(n.op in LINEAR or n.op in PICKED or n.op in MOVED for n in cycle)
        if is_begun and not walked:
            continue  # a later pass, which is not executed, may differentiate it
        is_sum = linear and bool(elements)
        is_outermost = _outermost(child, activation)
        is_long = not is_outermost and _is_long(run, activation)
        is_long = is_long and not picks_each(activation, [e.node for e in elements])
        is_search = not (is_sum or activation.bounded or activation.over_modules) and _descends(run, activation)
        lasts = is_outermost or is_search or (
            is_long and (is_sum or _descends(run, activation) or _begins_in_loop(child, activation))
        )
        ends = not walked and not lasts and is_long and _ends_with_call(child, activation)
        lasts = lasts or ends
        if not walked and not lasts and not (is_sum and _asks_for_gradient(run, activation)):
            continue
        if not walked and elements and all(is_kept_anyway(e.node, within, child.loops) for e in elements):
            continue
        if not walked and goes_over_network(activation) and not trains(run, activation):
            continue
        if not walked and any(n.walked_by for n in cycle):
            continue
        if not walked and not is_sum and _unrolled(run, crossing):
            continue
        if not walked and activation.inner and not trains(run, activation):
            continue
        if not walked and adds_no_graph(run, child, activation, _changed(crossing)):
            continue
        growth = Growth(
            "chain",
            run,
            activation,
            _shown(child, cycle, elements),
            elements,
            walked,
            freeing,
            linear,
            not any(n.assumed for n in cycle) and not any(e.node.assumed and not e.node.leaf for e in elements),
            _starts_as_number(run, cycle[0] if is_begun else child),
            link=child,
            ends=ends,
            through=frozenset(node.site.node for node in cycle),
        )
        if walked or lasts:
            found.append(growth)
        else:
            searched.append((growth, {node.site.node for node in cycle}))
    for growth in found:
        yield next((inner for inner, places in searched if _is_made_there(growth, places)), growth)


def _asks_for_gradient(run: Run, activation: Activation) -> bool:
    """Whether passes of a loop take gradient that they compute with."""
    return any(d.kind == "grad" and pass_of(d.loops, activation) is not None for d in run.machine.differentiations)


def _is_made_there(growth: Growth, places: set[ast.AST]) -> bool:
    """Whether all that is put into a sum, and that nothing has walked, is made in one of some places."""
    return not growth.dead and bool(growth.elements) and all(e.node.site.node in places for e in growth.elements)


def awaited_places(run: Run) -> Iterator[tuple[ast.AST, ast.AST | None]]:
    """Where a chain gets its links, and in which loop, if a later pass than theirs differentiates them.

    So it is with windows over a sequence.
    """
    told: set[tuple[ast.AST, ast.AST | None]] = set()
    looked_at: set[tuple[Node, Pass, ast.AST]] = set()
    for crossing in run.machine.crossings:
        parent, activation, place = crossing.parent, crossing.activation, crossing.child.site.node
        found = place, activation.node
        made = pass_of(parent.loops, activation)
        if found in told or made is None or (parent, made, place) in looked_at:
            continue
        looked_at.add((parent, made, place))
        if not all(made in d.loops for d in parent.walked_by) and cycle_of(parent, made, place):
            told.add(found)
            yield found


def linked_nodes(run: Run) -> Iterator[tuple[Node, Activation]]:
    """What links a chain to that of an earlier pass, one node for each place and loop: whoever differentiates it."""
    done: set[tuple[Activation, ast.AST]] = set()
    places = places_of(run)
    for crossing in run.machine.crossings:
        child, parent, activation = crossing.child, crossing.parent, crossing.activation
        key = (activation, child.site.node)
        made = pass_of(parent.loops, activation)
        if key in done or child.weak or parent.leaf or made is None:
            continue
        if places.cycle(parent, made, child.site.node) or _remade(places, crossing):
            done.add(key)
            yield child, activation


def _links(run: Run) -> Iterator[tuple[Crossing, Pass, list[Node]]]:
    """Where a chain goes on, one crossing for each place: with a pass that makes a link of it, and how."""
    done: set[tuple[Activation, ast.AST]] = set()
    left: list[Crossing] = []
    places = places_of(run)
    for crossing in run.machine.crossings:
        child, parent, activation = crossing.child, crossing.parent, crossing.activation
        if activation.in_forward or child.weak or parent.leaf or _builds_a_network(activation):
            continue
        key = (activation, child.site.node)
        before = pass_of(parent.loops, activation)
        if key in done or before is None:
            continue
        cycle = places.cycle(parent, before, child.site.node)
        if not cycle:
            left.append(crossing)
        elif _goes_on(cycle, crossing, before):
            done.add(key)
            yield crossing, before, cycle
    for crossing in left:
        key = (crossing.activation, crossing.child.site.node)
        remade = _remade(places, crossing) if key not in done else None
        if remade is not None:
            done.add(key)
            yield crossing, *remade


def _goes_on(cycle: list[Node], crossing: Crossing, made: Pass) -> bool:
    """Whether what an earlier pass has computed in the same place leads to the pass before that, or will do so.

    A network that is called twice in a pass, once with the weights that the pass before has left, computes in one place
    both what reads these and what begins anew. By the same calls, it is the same in every pass.
    """
    child, activation = crossing.child, crossing.activation
    ends = [n for n in cycle if n.site.node is child.site.node]
    if any(_calls(n) == _calls(child) for n in ends):
        return True
    return any((before := pass_of(n.loops, activation)) and before.index < made.index for n in ancestors(ends))


def _calls(node: Node) -> list[ast.AST]:
    """The calls in which a node was made."""
    return [site.node for site in calls_of(node.chain)]


def _outermost(child: Node, activation: Activation) -> bool:
    return bool(child.loops) and child.loops[0].activation is activation and activation.node is not None


def _begins_in_loop(child: Node, activation: Activation) -> bool:
    """Whether the loop around a loop is one of the same function, as that over the episodes of a roll-out.

    A name there has the state: one that an object keeps, its own function carries on. Of a generator, those who take
    what it yields may differentiate that.
    """
    frame = activation.frame
    inner = pass_of(child.loops, activation)
    around = child.loops[: child.loops.index(inner)] if inner is not None else ()
    return bool(around) and around[-1].activation.frame is frame and _is_named(child, frame)


def _ends_with_call(child: Node, activation: Activation) -> bool:
    """Whether a name of a function carries a state through a loop that is known to be long."""
    frame = activation.frame
    is_called = isinstance(frame, Frame) and frame.function is not None
    return is_called and (activation.usual or 0) > UNROLLED and _is_named(child, frame)


def _is_named(child: Node, frame: object) -> bool:
    """Whether a name of a function has a state."""
    if not isinstance(frame, Frame) or (frame.function is not None and frame.function.is_generator):
        return False
    named = (t for v in frame.names.values() if isinstance(v, (Tensor, Sequence)) for t in graph_in(v, 2))
    return child in set(ancestors(t.node for t in named if t.node is not None))


def _builds_a_network(activation: Activation) -> bool:
    """Whether a loop of a network's constructor runs an example through its layers, to learn their sizes."""
    frame = activation.frame
    if not isinstance(frame, Frame) or frame.function is None:
        return False
    return frame.function.name == "__init__" and is_module(frame.this)


def _is_long(run: Run, activation: Activation) -> bool:
    """Whether a loop in view goes on for long enough that a sum over it fills the memory, even if it begins anew."""
    if activation.node is None or activation.over_modules:
        return False
    return not activation.short or trains(run, activation)


def _descends(run: Run, activation: Activation) -> bool:
    """Whether each pass of a loop takes gradient for itself: a search, which unrolls nothing."""
    return any(pass_of(d.loops, activation) is not None and not d.create_graph for d in run.machine.differentiations)


def _unrolled(run: Run, crossing: Crossing) -> bool:
    """Whether a local state runs through the steps of a sequence, as when a trained network decodes.

    Its graph dies with the name. What goes on for long, keeps its state in an object that is there before, or
    differentiates in every step without reaching the step before, is another matter.
    """
    from autodetach.machine.local_records import is_in_local_record

    activation = crossing.activation
    if _descends(run, activation):
        return False
    if isinstance(activation.node, ast.While) and (activation.usual or 0) <= UNROLLED:
        frame = activation.frame
        if not isinstance(frame, Frame) or frame.outer is None or _endless(activation.node):
            return False
    elif not activation.short:
        return False
    if not isinstance(_carried(crossing), ast.Attribute):
        return True
    return is_in_local_record(crossing.parent, activation)


def _endless(loop: ast.While) -> bool:
    """`while True` that nothing in it leaves."""
    leaving = (ast.Break, ast.Return)
    return isinstance(loop.test, ast.Constant) and not any(isinstance(n, leaving) for n in ast.walk(loop))


def _carried(crossing: Crossing) -> ast.expr | None:
    """What carries the state, at the outermost call that is given it; None where it has no expression."""
    operand = next((o for o in crossing.child.operands if _origin(crossing.child, o) is crossing.parent), None)
    found = expression_of(crossing.child, operand) if operand is not None else None
    for site in calls_of(crossing.child.chain):
        for expression, value in site.operands:
            if value is operand or (isinstance(value, (Sequence, Mapping)) and operand in contents(value)):
                found = expression
    return found


def _changed(crossing: Crossing) -> ast.expr | None:
    """What carries the state, or has it in its entries where these are written."""
    place = crossing.child.site.node
    place = place.target if isinstance(place, ast.AugAssign) else place
    if isinstance(place, (ast.Name, ast.Subscript)):
        return place
    return _carried(crossing) or _changed_by_method(crossing.child.site)


def _changed_by_method(site: Site) -> ast.expr | None:
    """`scores[i]` of `scores[i].add_(1)`."""
    method = site.node.func if isinstance(site.node, ast.Call) else None
    if not isinstance(method, ast.Attribute):
        return None
    return next((e for e, value in site.operands if e is method.value and isinstance(value, Tensor)), None)


def _remade(places: Places, crossing: Crossing) -> tuple[Pass, list[Node]] | None:
    """Where a chain begins without history: the first pass that reads a link, and how it makes the next one of it.

    `average = 0.9 * average + 0.1 * loss` has no history in its first factor until the pass behind the next one.
    """
    child, parent = crossing.child, crossing.parent
    now = pass_of(child.loops, crossing.activation)
    cycle = places.remade(parent.site.node, now, child) if now is not None else []
    return (now, cycle) if now is not None and cycle else None


def _shown(link: Node, cycle: list[Node], elements: tuple[Element, ...]) -> Node:
    """What to tell of a chain: where its link only moves a sum, or overwrites an entry of it, what adds graph to it."""
    if not (link.op == "__setitem__" or link.op in MOVED) or len(link.parents) > 1 or not elements:
        return link
    adding = (n for n in cycle if n.op in LINEAR and (n.op == link.op or link.op in MOVED))
    return next((n for n in adding if any(elements[0].value is o for o in n.operands)), link)


def _elements(cycle: list[Node], within_pass: Pass) -> Iterator[Element]:
    members = set(cycle)
    seen: set[int] = set()
    for node in cycle:
        for operand in node.operands:
            inner = getattr(operand, "node", None)
            origin = _origin(node, operand)
            target = origin if origin is not None else inner
            if not isinstance(target, Node) or target in members or target.leaf:
                continue
            if id(operand) in seen or not (_is_made_in(target, within_pass) or is_asked_for(target, within_pass)):
                continue
            seen.add(id(operand))
            yield Element(expression_of(node, operand), operand, target, node.chain)


def _is_made_in(node: Node, current: Pass) -> bool:
    return pass_of(node.loops, current.activation) is current


def _origin(node: Node, operand: object) -> Node | None:
    """The node that an operand had when `node` was made: a tensor changed in place has a younger one by now."""
    inner = getattr(operand, "node", None)
    if isinstance(inner, Node) and inner in node.parents:
        return inner
    if isinstance(operand, Tensor) and len(node.parents) == 1:
        return node.parents[0]
    return None


def _begins_freed(run: Run, crossing: Crossing, cycle: list[Node]) -> bool:
    """Whether a chain that takes in nothing new goes on from graph that a pass has freed: nothing can walk it."""
    activation, place = crossing.activation, crossing.child.site.node
    freed = {
        n: n.freed_by.number
        for n in ancestors(cycle)
        if n.saves and n.freed_by is not None and pass_of(n.freed_by.loops, activation) is not None
    }
    since = min(freed.values(), default=math.inf)
    later = [
        c.child
        for c in run.machine.crossings
        if c.activation is activation and c.child.site.node is place and c.child.number > since
    ]
    return any(freed.get(n, math.inf) < link.number for link in later for n in ancestors([link]))


def _starts_as_number(run: Run, child: Node) -> bool:
    """Whether the first link of the chain had a Python number where the later ones have the chain."""
    place = child.site.node
    if isinstance(place, ast.Call) and any(is_tally(held_by(value)) for _, value in child.site.operands[:1]):
        return True
    first = next((n for n in run.machine.nodes if n.site.node is place and n.op == child.op), None)
    if first is None or first is child or len(first.site.operands) < 2:
        return False
    if isinstance(place, ast.AugAssign):
        return not isinstance(first.site.operands[0][1], (Tensor, Opaque))
    plain = [v for _, v in first.site.operands if not isinstance(v, (Tensor, Opaque))]
    return bool(plain) and len(first.parents) < len(child.parents)
