"""Whether something that is changed in place has several names, by all of which the change is seen.

A number in its place would be another one under each of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine.growth import Growth
from autodetach.machine.held import graph_in
from autodetach.machine.values import Frame, Instance, Opaque, Tensor, Value


def has_other_names(growth: Growth) -> bool:
    """Whether a sum that is changed in place is what two names are bound to, or what a container holds too."""
    summed = {v for v in growth.node.operands[:1] if isinstance(v, Tensor) and v.storage.version}
    return bool(summed) and any(sum(v in graph for graph in _held(growth)) > 1 for v in summed)


def _held(growth: Growth) -> Iterator[set[Tensor | Opaque]]:
    """The tensors that each name holds where the loop is, and each attribute of its object."""
    frame = growth.activation.frame
    if isinstance(frame, Frame):
        this = frame.this
        parts: list[Value] = list(this.attrs.values()) if isinstance(this, Instance) else []
        named = [v for v in frame.names.values() if v is not this]
        yield from (set(graph_in(value)) for value in (*parts, *named))
