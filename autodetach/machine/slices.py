"""Slices of lists, of which only some elements are known, and their parts as they are taken away."""

from __future__ import annotations

import ast
from collections.abc import Hashable

from autodetach.machine.core import Core
from autodetach.machine.events import Tail
from autodetach.machine.extents import Extent
from autodetach.machine.graph import Site
from autodetach.machine.held import graph_in
from autodetach.machine.state import Raised
from autodetach.machine.steering import counted
from autodetach.machine.values import Sequence, Slice, Value
from autodetach.machine.windows import begins_anywhere, is_rest, is_window, of_this_window, perhaps_others


def sliced(m: Core, this: Sequence, index: Slice, site: Site) -> Value:
    """`this[index]`, of which those elements that are known stand for all."""
    parts = (index.lower, index.upper, index.step)
    counted(m, parts, site)
    if is_rest(m, this, index, site):
        return Sequence(this.kind, [], m.clock, False)
    are_known = all(p is None or isinstance(p, int) for p in parts)
    is_sure = this.exact and are_known
    is_from_end = False
    if are_known and (this.exact or index.lower is None or index.lower < 0):
        try:
            items = this.items[slice(*parts)]
        except ValueError:
            items = list(this.items)
        if not items and not this.exact and isinstance(index.upper, int) and index.upper < 0:
            items = list(this.items)  # those that are known may all be among the first of many
        is_from_end = isinstance(index.lower, int) and index.upper is index.step is None
    else:
        # Of those that are known, the later ones stand for what is behind the first few.
        step = index.step if isinstance(index.step, int) and index.step > 0 else None
        is_open = isinstance(index.lower, int) and index.upper is None and index.step is step
        items = (this.items[index.lower :: step] if is_open else []) or list(this.items)
    extent = None if is_sure else _extent_copied(m, this, site).part(*(_key(m, p) for p in parts))
    if extent is not None:
        _note_part(m, this, extent, items, site)
    if not are_known and not isinstance(index.lower, int) and begins_anywhere(site):
        perhaps_others(m, this.items)
    window = of_this_window(m, items, site)
    if is_from_end and -index.lower == len(window):
        m.tails.append(Tail(this, tuple(window), site, m.clock, m.loops))
    made = Sequence(this.kind, window, m.clock, is_sure and len(window) == len(items))
    made.extent = extent
    return made


def delete_slice(m: Core, this: Sequence, index: Slice) -> None:
    """`del this[index]`."""
    bounds = (index.lower, index.upper, index.step)
    if index.step == 0:
        raise Raised("ValueError")
    if index.lower is None and index.upper is None and index.step in (None, 1, -1):
        this.items.clear()
        this.exact = True
    elif all(b is None or isinstance(b, int) for b in bounds) and (this.exact or index.lower is None):
        del this.items[slice(*bounds)]
    if not this.exact:
        without(m, this, index)


def without(m: Core, this: Sequence, index: Slice) -> None:
    """Note that a list goes on without some of its elements, or with others in their place."""
    is_front = index.lower in (None, 0) and index.upper is not None and index.step is None
    this.extent = _extent_of(this).part(_key(m, index.upper), None, None) if is_front else Extent(object())


def _extent_of(this: Sequence) -> Extent:
    return this.extent if this.extent is not None else Extent(this)


def _extent_copied(m: Core, this: Sequence, site: Site) -> Extent:
    """What was copied in the same expression begins where its source does: `list(memory)[:4]` of a deque.

    Not of what has lost elements at its front by now, as a ring may between two passes that fill it by a loop inside.
    """
    source, node = this.copied, site.node
    if source is None or this.extent is not None or this.kind == "set":
        return _extent_of(this)
    is_new = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call) and this.born == m.clock
    is_whole = not source.dropped and (source.maxlen is None or _is_filled_here(m, source))
    return _extent_of(source if is_new and is_whole else this)


def _is_filled_here(m: Core, this: Sequence) -> bool:
    """Whether each pass of the loop that is running puts something into a container by itself."""
    loop = m.loops[-1].activation if m.loops else None
    return all(event.loops and event.loops[-1].activation is loop for event in m.stored_in.get(this, ()))


def _key(m: Core, bound: Value) -> Hashable:
    return bound if bound is None or isinstance(bound, int) else m.key(bound)


def _note_part(m: Core, this: Sequence, extent: Extent, items: list[Value], site: Site) -> None:
    """Note that for the `items` of a slice, others may be meant than for those of a slice with other bounds.

    Not where all are walked that there may be, by another way than by slices, nor for a window that moves over a list
    as it is filled: that has its own rule.
    """
    every = [[t.node for t in graph_in(item, 3) if t.node is not None and not t.node.leaf] for item in this.items]
    nodes = {node for item in every for node in item}
    if not nodes or is_window(m, this, site):
        return
    if all(node.walked_by for node in nodes) and not any(
        isinstance(draw.place, Extent) and not nodes.isdisjoint(draw.taken) for draw in m.drawn
    ):
        return
    extent.nodes = every
    m.note_drawn(items, [], in_order=True, more=True, place=extent)
