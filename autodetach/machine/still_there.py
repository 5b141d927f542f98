"""Whether what a container has taken is still in it, and still has the graph that it had."""

from __future__ import annotations

from autodetach.machine.activations import Activation, pass_of
from autodetach.machine.events import Stored
from autodetach.machine.held import contents, given_gradient, graph_kept, tensors_in
from autodetach.machine.program_values import Function, Instance
from autodetach.machine.values import Mapping, Sequence, Value


class Looking:
    """A look at the end of a loop, which looks up once what each container and each value has."""

    def __init__(self, activation: Activation) -> None:
        self._activation = activation
        self._contents: dict[int, frozenset[int]] = {}
        self._graphs: dict[int, tuple[frozenset[int], int]] = {}

    def finds(self, event: Stored) -> bool:
        """Whether what was stored is still in its container, and that one in what holds it."""
        at: Stored | None = event
        while at is not None:
            held = self._contents.get(id(at.container))
            if held is None:
                held = self._contents[id(at.container)] = frozenset(map(id, contents(at.container)))
            if id(at.value) not in held or not self._still_keeps(at):
                return False
            at = at.inner
        return True

    def _still_keeps(self, event: Stored) -> bool:
        """Whether a value has the tensor that it had when it was stored, or another of that pass or a later one.

        A function may close over something else by now, a record has let go of its graph, gradients are set back:
        a tensor has to have the gradient that it had.
        """
        value = event.value
        if event.gradient_of is not None:
            return given_gradient(event.gradient_of) is event.tensor and event.gradient_of in list(tensors_in(value))
        if not isinstance(value, (Sequence, Mapping, Instance, Function)):
            return True
        tensors, newest = self._graph_of(value)
        if id(event.tensor) in tensors:
            return True
        parts = contents(value) if isinstance(value, (Sequence, Mapping)) else [value]
        own = pass_of(event.loops, self._activation)
        begun = event.clock if own is None else own.started
        return newest > begun and not any(isinstance(part, Function) for part in parts)

    def _graph_of(self, value: Value) -> tuple[frozenset[int], int]:
        """The tensors with history that a value has, by their identity, and the number of their newest node."""
        known = self._graphs.get(id(value))
        if known is None:
            found = list(graph_kept(value))
            newest = max((t.node.number for t in found if t.node is not None and not t.node.leaf), default=0)
            known = self._graphs[id(value)] = frozenset(map(id, found)), newest
        return known
