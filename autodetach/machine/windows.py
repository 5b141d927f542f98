"""Windows over a list that a loop fills: `outputs[t + 1 - k:t + 1]` and `outputs[-k:]`, in every k-th pass alone."""

from __future__ import annotations

import ast
from collections.abc import Hashable

from autodetach.machine.activations import diverge
from autodetach.machine.core import Core
from autodetach.machine.graph import Differentiation, Node, Site, ancestors
from autodetach.machine.held import graph_in
from autodetach.machine.program_values import Frame
from autodetach.machine.rhythms import covers, is_full, measured_by, rhythms, value_of
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Mapping, Sequence, Slice, Value


def of_this_window(m: Core, items: list[Value], site: Site) -> list[Value]:
    """Of the items of a slice, those that no window before it had.

    A pass that is executed stands for k of them, so that the last k items are those which no earlier pass has walked.
    """
    width = _width(site.node)
    frame = _running(m)
    if width is None or frame is None or not any(_is_walked(m, item) for item in items):
        return items
    covered = covers(rhythms(m, m.trail), m.key(value_of(width, frame)))
    if covered is None:
        perhaps_others(m, items)
    return [item for item in items if not (covered and _is_walked(m, item))] or items


def perhaps_others(m: Core, items: list[Value]) -> None:
    """Note that others may be meant for those items of a slice that an earlier pass has walked."""
    for item in items:
        if _is_walked(m, item):
            m.draw(item, [], more=True, place=("part", m.serial()))


def begins_anywhere(site: Site) -> bool:
    """Whether nothing tells how far from its end a part of a list begins: `losses[done:]`."""
    node = site.node
    part = node.slice if isinstance(node, ast.Subscript) else None
    return isinstance(part, ast.Slice) and part.lower is not None and _width(node) is None


def is_window(m: Core, this: Sequence, site: Site) -> bool:
    """Whether a slice is the window, of a width that is written, over a list that a loop around it fills."""
    if _width(site.node) is None or not m.loops:
        return False
    loop = m.loops[-1].activation
    return any(p.activation is loop for event in m.stored_in.get(this, ()) for p in event.loops)


def from_end(m: Core, this: Sequence, index: int) -> Value:
    """`losses[-2]`, which in every second pass alone may be another element, that no earlier one has walked."""
    item = this.items[index]
    if this.exact or index > -2 or not _is_walked(m, item):
        return item
    if covers(rhythms(m, m.trail), m.key(-index)) is False:
        return item
    return m.draw(item, this.items, place=("end", index, m.serial()))


def is_rest(m: Core, this: Sequence, index: Slice, site: Site) -> bool:
    """Whether a list goes on with what is behind all that it has: `losses = losses[5:]`, once it has 5 elements."""
    node = site.node
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
        return False
    lower = node.slice.lower
    if this.exact or lower is None or index.upper is not None or index.step is not None:
        return False
    measured = measured_by(lower)
    if measured is not None and spelled(measured) == spelled(node.value):
        return True
    statement = m.trail[-1][0] if m.trail else None
    if not isinstance(statement, ast.Assign) or spelled(node.value) not in _bound(statement.targets):
        return False
    if isinstance(index.lower, int) and not 0 < len(this.items) <= index.lower:
        return False
    return is_full(m, node.value, lower, index.lower)


def of_another_turn(m: Core, d: Differentiation) -> frozenset[Node]:
    """Of what a differentiation in every k-th pass walks again, what stands in a ring of k elements, each filled anew.

    `deque(maxlen=k)`, `ring[t % k] = loss`. What the new elements are made of, too, they lead to all the same: a state
    that is carried on, or what was there before the loop.
    """
    bounded = [(this, events) for this, events in m.stored_in.items() if _size(m, this)]
    every = rhythms(m, m.trail) if bounded else []
    if not every:
        return frozenset()
    rings = [events for this, events in bounded if covers(every, _size(m, this)) is not False]
    turned = {e.node for events in rings for e in events if any(diverge(w.loops, d.loops) for w in e.node.walked_by)}
    fresh = {e.node for events in rings for e in events} - turned
    return frozenset(set(ancestors(turned)) - set(ancestors(fresh)))


def _size(m: Core, this: Sequence | Mapping) -> Hashable:
    """The key of the number of elements that a container has at most; None where nothing bounds it."""
    return m.key(this.maxlen) if isinstance(this, Sequence) and this.maxlen is not None else this.turn


def _bound(targets: list[ast.expr]) -> list[str]:
    """The names that an assignment binds; of `losses[:] = rest`, the list."""
    found: list[str] = []
    for target in targets:
        if isinstance(target, (ast.Tuple, ast.List)):
            found += _bound(target.elts)
        elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
            found.append(spelled(target.value))
        else:
            found.append(spelled(target))
    return found


def _running(m: Core) -> Frame | None:
    return m.trail[-1][1] if m.trail else None


def _width(node: ast.AST) -> ast.expr | None:
    """`k` of `[-k:]`, `[t - k:t]`, `[max(0, t - k):t]` and `[t + 1 - k:t + 1]`."""
    lower = node.slice.lower if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) else None
    if isinstance(lower, ast.Call) and spelled(lower.func) == "max" and len(lower.args) == 2:
        lower = lower.args[1] if isinstance(lower.args[0], ast.Constant) else lower.args[0]
    while isinstance(lower, ast.BinOp) and isinstance(lower.op, ast.Add):
        lower = lower.left  # `t - k + 1`
    if isinstance(lower, ast.UnaryOp) and isinstance(lower.op, ast.USub):
        return lower.operand
    return lower.right if isinstance(lower, ast.BinOp) and isinstance(lower.op, ast.Sub) else None


def _is_walked(m: Core, item: Value) -> bool:
    """Whether an earlier pass has differentiated what an item was made by."""
    walks = (d for t in graph_in(item) if t.node is not None for d in t.node.walked_by)
    return any(diverge(d.loops, m.loops) is not None for d in walks)
