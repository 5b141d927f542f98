"""Which bindings hold more graph with every pass: chains of nodes, and containers."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autodetach.machine.events import Crossing, Stored
from autodetach.machine.graph import Activation, Chain, Differentiation, Node, Pass, Site, ancestors
from autodetach.machine.run import Analysis, Run
from autodetach.machine.spelling import spelled
from autodetach.machine.statements import UNROLLED
from autodetach.machine.torch_semantics import OPS
from autodetach.machine.unseen import Unseen
from autodetach.machine.values import Frame, Mapping, Opaque, Sequence, Tensor, Value, graph_in

LINEAR = frozenset(
    "add sub mul div lerp maximum minimum neg true_divide addcmul addcdiv rsub clone stack cat __setitem__".split()
)


@dataclass(frozen=True, eq=False, slots=True)
class Element:
    """What is put into a growing binding in one pass: its expression (None where there is none in view) and value.

    `chain` are the calls that were open when it was put there.
    """

    expression: ast.expr | None
    value: Value
    node: Node
    chain: Chain = None


@dataclass(frozen=True, eq=False, slots=True)
class Growth:
    """A binding whose reachable nodes grow with every pass of `activation`.

    `dead`: the graph of the elements was walked in the same pass, so that nodes are kept but few saved tensors.
    `freeing` is the differentiation that did so. `stored` is where the tensor was put into a container, `keeper` where
    that was put into the one that grows: the same, if there is but one.
    """

    kind: str  # "chain" or "store"
    run: Run
    activation: Activation
    node: Node
    elements: tuple[Element, ...]
    dead: bool
    freeing: Differentiation | None
    linear: bool
    certain: bool
    starts_as_number: bool
    stored: Stored | None = None
    used: bool = False
    keeper: Stored | None = None


def pass_of(node_loops: tuple[Pass, ...], activation: Activation) -> Pass | None:
    for p in node_loops:
        if p.activation is activation:
            return p
    return None


def growths(analysis: Analysis) -> list[Growth]:
    """The growths of all paths, one for each place; none that any path differentiates later."""
    legitimate: set[tuple[str, ast.AST | None]] = set()
    found: dict[tuple[str, ast.AST | None], Growth] = {}
    unseen = Unseen(analysis.trees, analysis.distinct)
    for run in analysis.distinct:
        for crossing in run.machine.crossings:
            if crossing.child.walked_by:
                legitimate.add(("chain", crossing.child.site.node))
        legitimate.update(("store", element) for element in _differentiated_later(run))
        for growth in (*_chains(run), *_stores(run)):
            key = (growth.kind, growth.stored.element if growth.stored is not None else growth.node.site.node)
            if not (run.whole or growth.dead):
                continue  # what comes later may differentiate it
            if growth.used or (not growth.dead and _escapes(run, growth)) or unseen.uses(_place_of(growth).node):
                legitimate.add(key)
            elif key not in found or (growth.dead and not found[key].dead):
                found[key] = growth
    return [g for k, g in found.items() if k not in legitimate and (g.dead or not _trains_elsewhere(analysis, g))]


def _place_of(growth: Growth) -> Site:
    return growth.stored.site if growth.stored is not None else growth.node.site


def _trains_elsewhere(analysis: Analysis, growth: Growth) -> bool:
    """Whether it grows in an imported file that differentiates where this program does not come by.

    Such a file is a program of its own: what this one only looks at, that one may differentiate.
    """
    place = _place_of(growth).line
    modules = analysis.project.modules if analysis.project is not None else []
    home = next((m for m in modules if m.first < place <= m.last), None)
    if home is None or home.tree is analysis.tree:
        return False
    calls = {
        n for n in ast.walk(home.tree)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "backward"
    }  # fmt: skip
    return not calls <= {d.call for run in analysis.runs for d in run.machine.differentiations}


# ---- chains


def _chains(run: Run) -> Iterator[Growth]:
    done: set[tuple[Activation, ast.AST]] = set()
    for crossing in run.machine.crossings:
        child, parent, activation = crossing.child, crossing.parent, crossing.activation
        if activation.in_forward or child.weak or parent.leaf:
            continue
        key = (activation, child.site.node)
        if key in done:
            continue
        before = pass_of(parent.loops, activation)
        if before is None:
            continue
        cycle = _cycle(parent, before, child.site.node)
        if not cycle:
            continue
        done.add(key)
        elements = tuple(_elements(cycle, before))
        if not any(_proven(n) for n in ([e.node for e in elements] or cycle)):
            continue
        freeing = _freed_within(elements, before)
        walked = freeing is not None or (not elements and _begins_freed(cycle, activation))
        linear = all(n.op in LINEAR or n.op == "part" for n in cycle)
        if not walked and not _outermost(child, activation) and not (linear and elements and _is_long(run, activation)):
            continue
        if not walked and any(n.walked_by for n in cycle):
            continue
        if not walked and not (linear and elements) and _unrolled(run, crossing):
            continue
        if not walked and activation.inner:
            continue
        yield Growth(
            "chain",
            run,
            activation,
            child,
            elements,
            walked,
            freeing,
            linear,
            not any(n.assumed for n in cycle) and not any(e.node.assumed and not e.node.leaf for e in elements),
            _starts_as_number(run, child),
        )


def _outermost(child: Node, activation: Activation) -> bool:
    return bool(child.loops) and child.loops[0].activation is activation and activation.node is not None


def _is_long(run: Run, activation: Activation) -> bool:
    """Whether a loop in view goes on for long enough that a sum over it fills the memory, even if it begins anew.

    One that steps parameters trains: it unrolls nothing, however few passes an example makes.
    """
    if activation.node is None or activation.bounded:
        return False
    return not activation.short or any(
        s.what == "step" and s.consumed and pass_of(s.loops, activation) is not None for s in run.machine.steps
    )


def _unrolled(run: Run, crossing: Crossing) -> bool:
    """Whether a local state runs through the steps of a sequence, as when a trained network decodes.

    Its graph dies with the name. What goes on for long, keeps its state in an object, or differentiates in every step
    without reaching the step before, is another matter.
    """
    activation = crossing.activation
    if any(pass_of(d.loops, activation) is not None and not d.create_graph for d in run.machine.differentiations):
        return False
    if isinstance(activation.node, ast.While):
        frame = activation.frame
        if not isinstance(frame, Frame) or frame.outer is None or _endless(activation.node):
            return False
    elif not activation.short:
        return False
    return not isinstance(_carried(crossing), ast.Attribute)


def _endless(loop: ast.While) -> bool:
    """`while True` that nothing in it leaves."""
    leaving = (ast.Break, ast.Return)
    return isinstance(loop.test, ast.Constant) and not any(isinstance(n, leaving) for n in ast.walk(loop))


def _carried(crossing: Crossing) -> ast.expr | None:
    """What carries the state, at the outermost call that is given it; None where it has no expression."""
    operand = next((o for o in crossing.child.operands if getattr(o, "node", None) is crossing.parent), None)
    found = expression_of(crossing.child, operand) if operand is not None else None
    chain = crossing.child.chain
    while chain is not None:
        site, _, chain = chain
        for expression, value in site.operands:
            if value is operand or (isinstance(value, (Sequence, Mapping)) and operand in contents(value)):
                found = expression
    return found


def _cycle(parent: Node, within_pass: Pass, place: ast.AST) -> list[Node]:
    """Nodes made in one pass that lead from what the next pass reads back to what was read from the pass before."""
    order: list[Node] = []
    seen: set[Node] = set()
    stack = [parent]
    while stack and len(order) < 400:
        node = stack.pop()
        if node in seen or within_pass not in node.loops:
            continue
        seen.add(node)
        order.append(node)
        stack.extend(node.parents)
    ends = {n for n in order if n.site.node is place}
    on_path: set[Node] = set()
    for node in sorted(order, key=lambda n: n.number):
        if node in ends or any(p in on_path for p in node.parents):
            on_path.add(node)
    return [n for n in order if n in on_path]


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
            if pass_of(target.loops, within_pass.activation) is not within_pass or id(operand) in seen:
                continue
            seen.add(id(operand))
            yield Element(expression_of(node, operand), operand, target, node.chain)


def _origin(node: Node, operand: object) -> Node | None:
    """The node that an operand had when `node` was made: a tensor changed in place has a younger one by now."""
    inner = getattr(operand, "node", None)
    if isinstance(inner, Node) and inner in node.parents:
        return inner
    if isinstance(operand, Tensor) and len(node.parents) == 1:
        return node.parents[0]
    return None


def expression_of(node: Node, operand: object) -> ast.expr | None:
    """The expression behind an operand of a node, from the values at its site."""
    for expression, value in node.site.operands:
        if value is operand:
            return expression
    for expression, value in node.site.operands:
        if isinstance(value, (Sequence, Mapping)) and operand in contents(value):
            return _part(expression, value, operand)
    return None


def _part(expression: ast.expr, value: Sequence | Mapping, operand: object) -> ast.expr:
    """Of the display `[real, fake]`, the part that gives the operand."""
    if isinstance(expression, (ast.List, ast.Tuple)) and len(expression.elts) == len(contents(value)):
        for part, item in zip(expression.elts, contents(value), strict=True):
            if item is operand:
                return part
    return expression


def contents(value: Sequence | Mapping) -> list[Value]:
    if isinstance(value, Sequence):
        return value.items
    return [v for _, v in value.items.values()]


def _freed_within(elements: tuple[Element, ...], within_pass: Pass) -> Differentiation | None:
    """A differentiation in the same pass that walked an element, or the graph of this pass behind it."""
    for element in elements:
        stack, seen = [element.node], set[Node]()
        while stack:
            node = stack.pop()
            if node in seen or node.leaf:
                continue
            seen.add(node)
            for d in node.walked_by:
                if within_pass in d.loops and not d.create_graph and not (node.weak and node is not element.node):
                    return d
            stack.extend(p for p in node.parents if within_pass in p.loops)
    return None


def _begins_freed(cycle: list[Node], activation: Activation) -> bool:
    """Whether a chain that takes in nothing new begins with graph that a pass has freed: nothing can walk it."""
    return any(
        n.saves and n.freed_by is not None and pass_of(n.freed_by.loops, activation) is not None
        for n in ancestors(cycle)
    )


def _starts_as_number(run: Run, child: Node) -> bool:
    """Whether the first link of the chain had a Python number where the later ones have the chain."""
    place = child.site.node
    first = next((n for n in run.machine.nodes if n.site.node is place and n.op == child.op), None)
    if first is None or first is child or len(first.site.operands) < 2:
        return False
    if isinstance(place, ast.AugAssign):
        return not isinstance(first.site.operands[0][1], (Tensor, Opaque))
    plain = [v for _, v in first.site.operands if not isinstance(v, (Tensor, Opaque))]
    return bool(plain) and len(first.parents) < len(child.parents)


# ---- containers


def _stores(run: Run) -> Iterator[Growth]:
    for events in _alike(run):
        yield from _grown(run, events)


def _alike(run: Run) -> Iterable[list[Stored]]:
    """What one place stores into one container."""
    groups: dict[tuple[ast.AST, int, ast.AST | None], list[Stored]] = {}
    for event in run.machine.stored:
        if not event.node.weak:
            groups.setdefault((event.site.node, id(event.container), event.element), []).append(event)
    return groups.values()


def _differentiated_later(run: Run) -> Iterator[ast.AST | None]:
    """What is stored and differentiated from there in a later pass, even where the container is emptied then."""
    for events in _alike(run):
        gathered = [e for e in events if e.how != "key" and e.node.walked_by]
        activations = {outer.activation for event in gathered for outer in event.loops}
        if any(_used_later(gathered, activation) for activation in activations):
            yield _origin_of(run, events[-1]).element


def _grown(run: Run, events: list[Stored]) -> Iterator[Growth]:
    last = events[-1]
    for outer in last.loops:
        activation = outer.activation
        if activation.in_forward:
            continue
        growing = [e for e in events if e.how != "key" and pass_of(e.loops, activation) is not None]
        indices = {p.index for e in growing if (p := pass_of(e.loops, activation)) is not None}
        held = {p.index for e in growing if activation.number in e.held and (p := pass_of(e.loops, activation))}
        if len(indices) < 2 or len(held) < 2 or _is_window(last.container, activation, indices, held):
            continue
        if activation.exact and activation.bounded and _renewed(last, activation):
            continue
        event = next(e for e in reversed(growing) if activation.number in e.held)
        within_pass = pass_of(event.loops, activation)
        assert within_pass is not None
        if not _proven(event.node):
            continue
        freeing = _freed_within((Element(event.element, event.value, event.node),), within_pass)
        used = (
            _used_later(growing, activation)
            or _may_be_drawn(run, growing)
            or (freeing is None and (_is_released(run, event, activation) or _is_handed_back(event, activation)))
        )
        is_small = (activation.bounded and not _is_much(event)) or activation.inner
        if not used and freeing is None and (is_small or _harmless(event.node, within_pass)):
            continue
        origin = _origin_of(run, event)
        yield Growth(
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
            event,
        )
        return


def _is_window(container: Sequence | Mapping, activation: Activation, indices: set[int], held: set[int]) -> bool:
    """Whether a container holds the last few of what it took: it has dropped the first, is cut to a length, or full."""
    if isinstance(container, Sequence) and container.dropped > activation.started:
        return True
    most = container.maxlen if isinstance(container, Sequence) else None
    return min(indices) not in held or (isinstance(most, int) and len(container.items) >= most)


def _is_much(event: Stored) -> bool:
    """Whether loops in loops, each of a few steps, store a lot together: in each episode, in each step of it."""
    lengths = [p.activation.length for p in event.loops if p.activation.number in event.held]
    return len(lengths) > 1 and math.prod(length or 1 for length in lengths) > UNROLLED


def _renewed(event: Stored, activation: Activation) -> bool:
    """Whether a container is made anew in every pass of a loop around this one: it is no larger than its few steps."""
    around = [p for p in event.loops if p.started < activation.started]
    return any(event.container.born >= p.started for p in around)


def _is_released(run: Run, event: Stored, activation: Activation) -> bool:
    """Whether a container of some counted steps, made anew for them, is read with `detach()`: a roll-out."""
    loop = activation.node
    counts = isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and spelled(loop.iter.func) == "range"
    alike = [e for e in run.machine.stored if e.site.node is event.site.node and e.element is event.element]
    if not counts or not any(_renewed(e, p.activation) for e in alike for p in e.loops if p.activation.node is loop):
        return False
    released = [n for n in run.machine.nodes if n.let_go is not None and pass_of(n.let_go, activation) is None]
    return not {e.node for e in alike}.isdisjoint(ancestors(released))


def _is_handed_back(event: Stored, activation: Activation) -> bool:
    """Whether a function makes what it returns of the steps of a loop: who calls it may differentiate that.

    Its graph lives as long as the result, whether this caller only looks at it or not.
    """
    frame = activation.frame
    if not isinstance(frame, Frame) or not activation.short or event.container.born < frame.started:
        return False
    returned = [t.node for value in frame.returns for t in graph_in(value) if t.node is not None]
    return event.node in ancestors(returned)


def _harmless(node: Node, within_pass: Pass) -> bool:
    """Whether nothing says that what is stored, and never differentiated from there, costs memory in every pass."""
    return node.weak or _walked_at_all(node) or _cheap(node, within_pass)


def _cheap(node: Node, within_pass: Pass) -> bool:
    """Whether a pass only adds, scales and picks from graph that was there before it."""
    stack, seen = [node], set[Node]()
    older = False
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        if within_pass not in n.loops:
            older = older or not n.leaf
            continue
        if n.saves and n.op not in LINEAR and not n.weak:
            return False
        stack.extend(n.parents)
    return older


def _used_later(events: list[Stored], activation: Activation) -> bool:
    """Whether stored elements are differentiated after the passes that stored them, through their container.

    What a pass differentiates of the one just before it comes from a variable (`q = net(x)`), not from the container.
    """
    for event in events:
        own = pass_of(event.loops, activation)
        if own is None:
            continue
        for d in event.node.walked_by:
            now = pass_of(d.loops, activation)
            if d.number <= event.clock or now is own:
                continue
            if now is None or now.index > own.index + 1:
                return True
            if any(
                e is not event and d.number > e.clock and d in e.node.walked_by and own not in e.loops for e in events
            ):
                return True  # one differentiation over elements of several passes
    return False


def _may_be_drawn(run: Run, events: list[Stored]) -> bool:
    """Whether what is stored may be differentiated by its place in the container, which is not known."""
    nodes = {event.node for event in events}
    return any(not draw.others.isdisjoint(nodes) and draw.walked_since(0) for draw in run.machine.drawn)


def _origin_of(run: Run, event: Stored) -> Stored:
    """Where the tensor itself was put into the container that `event` stores."""
    if event.value is event.tensor or not isinstance(event.element, (ast.Name, ast.Attribute, ast.Subscript)):
        return event
    for other in run.machine.stored:
        if other.clock < event.clock and other.tensor is event.tensor and other.value is other.tensor:
            return other
    return event


def _walked_at_all(node: Node) -> bool:
    """Whether any of the graph behind an element is ever differentiated."""
    stack, seen = [node], set[Node]()
    while stack:
        n = stack.pop()
        if n in seen or n.leaf:
            continue
        seen.add(n)
        if n.walked_by:
            return True
        stack.extend(n.parents)
    return False


def _proven(node: Node) -> bool:
    """Whether a value has history for certain: it was differentiated, or no unknown callable stands on the way.

    A sibling of what is differentiated (`loss, accuracy = model.step(x)`) may well be a number.
    """
    stack, seen = [node], set[Node]()
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        if n.walked_by:
            return True
        if n.op == "part" and any(p.walked_by for p in n.parents):
            continue
        if not n.assumed and n.op != "part":
            return True
        if n.op in OPS or n.op == "part":
            stack.extend(n.parents)
    return False


def _escapes(run: Run, growth: Growth) -> bool:
    """Whether what grows is handed to code that is not in view, which may differentiate it."""
    targets = {growth.node} | {e.node for e in growth.elements}
    if growth.stored is not None:
        targets |= {e.node for e in run.machine.stored if e.container is growth.stored.container}
    else:
        targets |= {n for n in run.machine.nodes if n.site.node is growth.node.site.node}
    for escape in run.machine.escapes:
        stack, seen = list(escape.nodes), set[Node]()
        while stack and len(seen) < 2000:
            node = stack.pop()
            if node in targets:
                return True
            if node not in seen:
                seen.add(node)
                stack.extend(node.parents)
    return False
