"""What a loop over a container runs through, how long it is, and whether it is like another one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from autodetach.machine.core import Core
from autodetach.machine.held import graph_in
from autodetach.machine.module_tree import is_module
from autodetach.machine.others import others_by_keys, others_in
from autodetach.machine.passes import MOST_PASSES
from autodetach.machine.program_values import External, Instance, Iterable
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import FIELD_OF_RECORD, Mapping, Sequence, Tensor, Value


def items(m: Core, this: Value) -> Iterable:
    if isinstance(this, (str, bytes)):
        whole = list(this)
        return Iterable(lambda exact: iter(whole), len(whole))
    if isinstance(this, Mapping):
        by_key = Iterable(
            lambda exact: iter([k for k, _ in list(this.items.values())]),
            len(this.items) if this.exact else None,
            listed=tells_fields(this),
        )
        by_key.others = others_by_keys(m, this)
        return by_key

    def walk(exact: bool) -> Iterator[Value]:
        i, since = 0, m.clock
        try:
            while i < len(this.items):  # the list may grow while it is walked
                yield this.items[i]
                i += 1
        except GeneratorExit:  # a loop is cut short after some of them, which stand for all
            if not (exact or m.is_over):
                m.note_drawn(this.items[: i + 1], this.items[i + 1 :], in_order=True, since=since)
            raise
        if not exact and not this.exact:
            # What this loop has differentiated by now stands for no other element: that one has a graph of its own.
            while this.items and i < MOST_PASSES and (this.again or not _was_walked(this.items[-1], since)):
                yield m.draw(this.items[-1], this.items, in_order=True)
                i += 1

    listed = this.exact and (_are_leaves(this.items) or _are_modules(this.items) or _are_fields(this.items))
    short = this.exact or _are_parts(this.items)
    made = Iterable(walk, len(this.items) if this.exact else None, short=short, listed=listed)
    made.others = others_in(m, this.items)
    return made


def _was_walked(value: Value, since: int) -> bool:
    """Whether a graph in a value was differentiated after the clock was `since`."""
    return any(d.number > since for t in graph_in(value, 3) if t.node is not None for d in t.node.walked_by)


def length(m: Core, this: Value) -> Value:
    if isinstance(this, (str, bytes)):
        return len(this)
    if isinstance(this, Sequence) and this.filled is not None:
        return m.sym(("len", this.filled.key), "number", lo=0)
    if this.exact:
        return len(this.items)
    # No counter of a loop, which has a value once: what is emptied is filled again.
    return m.sym(("len", m.serial()), "number", lo=len(this.items))


def equal(left: Sequence, right: Sequence) -> bool | None:
    """Whether two lists or tuples whose lengths are known are equal; None where that depends on what is not known."""
    if len(left.items) != len(right.items):
        return False
    found: bool | None = True
    for a, b in zip(left.items, right.items, strict=True):
        if is_constant(a) and is_constant(b):
            same: bool | None = a == b
        elif isinstance(a, Sequence) and isinstance(b, Sequence) and a.kind == b.kind and a.exact and b.exact:
            same = equal(a, b)
        else:
            same = True if a is b else None
        if same is False:
            return False
        found = found and same
    return found


def _are_leaves(values: list[Value]) -> bool:
    """Whether these are the parameters of a network, or tuples with one, told by the first and the last of them."""
    return bool(values) and _is_leaf(values[0]) and _is_leaf(values[-1])


def _is_leaf(value: Value) -> bool:
    """Whether it is a parameter, or a tuple with one, as of `list(net.named_parameters())`."""
    if isinstance(value, Sequence) and value.kind == "tuple":
        return any(isinstance(v, Tensor) and v.leaf_node is not None for v in value.items)
    return isinstance(value, Tensor) and value.leaf_node is not None


def _are_modules(values: list[Value]) -> bool:
    """Whether these are parts of a network, as `[m for m in net.modules() if hasattr(m, "reset")]`, told likewise."""
    return bool(values) and is_module(values[0]) and is_module(values[-1])


def tells_fields(this: Mapping) -> bool:
    """Whether a dict is the `__dataclass_fields__` of a record."""
    return _are_fields([value for _, value in islice(this.items.values(), 1)])


def _are_fields(values: list[Value]) -> bool:
    """Whether these are what `dataclasses.fields` gives: a record has as many as its class says."""
    first = values[0] if values else None
    return isinstance(first, Instance) and isinstance(first.cls, External) and first.cls.path == FIELD_OF_RECORD


def _are_parts(values: list[Value]) -> bool:
    """Whether these are the parts of one tensor with history: its graph is there before the first of them is taken."""
    nodes = {v.node if isinstance(v, Tensor) else None for v in values}
    return len(nodes) == 1 and None not in nodes
