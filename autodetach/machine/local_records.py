"""Records that each pass of a loop makes anew, as the state of a recurrent model: `state = model.step(state)`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from autodetach.machine.activations import Activation
from autodetach.machine.graph import Node
from autodetach.machine.held import contents, graph_in
from autodetach.machine.program_values import Frame, Instance
from autodetach.machine.values import Mapping, Sequence, Value

MAX_OBJECTS = 500


def is_in_local_record(made: Node, activation: Activation) -> bool:
    """Whether what a pass makes is handed on in a record that a variable of the function holds, and no older object.

    The graph of what is in it dies with the name, as that of a tensor would.
    """
    frame = activation.frame
    if not isinstance(frame, Frame) or frame.outer is None:
        return False
    records = {id(v) for v in frame.names.values() if _is_record_of(v, made, activation)}
    if not records:
        return False
    names = frame.names.values()
    older = [v for v in names if isinstance(v, Instance) and v.born < activation.started]
    return records.isdisjoint(_reached([*older, *frame.top.names.values()]))


def _is_record_of(value: Value, made: Node, activation: Activation) -> bool:
    if not isinstance(value, (Instance, Sequence)) or value.born < activation.started:
        return False
    parts = list(value.attrs.values()) if isinstance(value, Instance) else value.items
    nodes = (tensor.node for part in parts for tensor in graph_in(part))
    return any(node is not None and node.site.node is made.site.node for node in nodes)


def _reached(values: Iterable[Value]) -> Iterator[int]:
    """The identities of what some values hold, and of what that holds."""
    pending, seen = list(values), set[int]()
    while pending and len(seen) < MAX_OBJECTS:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield id(value)
        if isinstance(value, Instance):
            pending += value.attrs.values()
        elif isinstance(value, (Sequence, Mapping)):
            pending += contents(value)
