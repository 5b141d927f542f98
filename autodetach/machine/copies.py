"""`copy.copy` and `copy.deepcopy`."""

from __future__ import annotations

from autodetach.machine.core import Core, Handler
from autodetach.machine.events import HistoryCopied
from autodetach.machine.graph import Node, Site
from autodetach.machine.implicit_calls import own_method, special
from autodetach.machine.marks import WEIGHTS, is_mark
from autodetach.machine.program_values import Instance
from autodetach.machine.state import MISSING
from autodetach.machine.swallowing import expects_fault
from autodetach.machine.told_of_values import is_member
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value

MAX_DEEP = 8
REDUCING = ("__getstate__", "__reduce__", "__reduce_ex__")
"""Methods by which a class says itself what of an object is copied."""


def _copy(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    value = args[0] if args else None
    found = special(m, value, ("__copy__",), [], site)
    if found is not MISSING:
        return found
    if isinstance(value, Sequence):
        return Sequence(value.kind, list(value.items), m.clock, value.exact)
    if isinstance(value, Mapping):
        copy = Mapping(m.clock, value.exact)
        copy.items.update(value.items)
        return copy
    if isinstance(value, Instance) and not is_member(value):
        return _restored(m, value, site)
    return value


def _restored(m: Core, this: Instance, site: Site) -> Instance:
    """A copy by what the class says of the state of its objects: all attributes, if it says nothing."""
    state = special(m, this, ("__getstate__",), [], site)
    is_known = isinstance(state, Mapping) and state.exact
    twin = _twin(m, this, {name: value for name, value in this.attrs.items() if not is_known or is_mark(name)})
    if state is MISSING or special(m, twin, ("__setstate__",), [state], site) is not MISSING:
        return twin
    if isinstance(state, Mapping):
        twin.attrs.update((name, value) for name, value in state.items.values() if isinstance(name, str))
    return twin


def _twin(m: Core, this: Instance, attrs: dict[str, Value]) -> Instance:
    """Another object of the same class with these attributes."""
    twin = Instance(this.cls, m.serial(), m.clock)
    twin.open = this.open
    twin.attrs = attrs
    return twin


def deepcopy(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    if not args:
        return None
    is_told = len(args) == 1 and not kwargs and not expects_fault(m)
    return _DeepCopy(m, args[0], site, is_told).of(args[0])


class _DeepCopy:
    """One call: each value is copied once. What it comes to that cannot be copied is noted, as a fact if `is_told`."""

    def __init__(self, m: Core, whole: Value, site: Site, is_told: bool) -> None:
        self._machine = m
        self._whole = whole
        self._site = site
        self._is_told = is_told
        self._seen: dict[int, Value] = {}
        self._way: list[str | None] = []

    def of(
        self, value: Value, owner: Instance | None = None, name: str = "", inside: Sequence | Mapping | None = None
    ) -> Value:
        """The copy of a value that `owner` has under `name`, if any object has it, perhaps `inside` of a container."""
        if id(value) in self._seen or len(self._way) > MAX_DEEP:
            return self._seen.get(id(value), value)
        self._way.append(None if inside is not None or is_mark(name) else name)
        try:
            return self._of(value, owner, name, inside)
        finally:
            self._way.pop()

    def _fact(
        self, tensor: Tensor, node: Node, owner: Instance | None, name: str, inside: Sequence | Mapping | None
    ) -> HistoryCopied:
        names = [step for step in self._way[1:] if step is not None]
        way = tuple(names) if self._way[1 : len(names) + 1] == names else None
        chain = self._machine.chain
        return HistoryCopied(self._site, node, tensor, self._whole, way, owner, name, inside, chain)

    def _of(self, value: Value, owner: Instance | None, name: str, inside: Sequence | Mapping | None) -> Value:
        m = self._machine
        if isinstance(value, Tensor):
            if value.node is not None and not value.node.leaf:
                m.type_fault(self._site, "deep-copies a tensor with history", "deepcopy")
                if self._is_told:
                    m.facts.append(self._fact(value, value.node, owner, name, inside))
            twin = Tensor(None, value.shape, value.is_float)
            twin.parameter = value.parameter
            if value.node is not None and value.node.leaf:
                _require_grad_as(m, twin, value.node, self._site)
            # Of what has history there is no copy: behind the call, it had none.
            self._seen[id(value)] = twin
            return twin
        found = special(m, value, ("__deepcopy__",), [Mapping(m.clock)], self._site)
        if found is not MISSING:
            self._seen[id(value)] = found
            return found
        if isinstance(value, Instance) and not is_member(value):
            other = self._seen[id(value)] = _twin(m, value, {})
            told, self._is_told = self._is_told, self._is_told and own_method(value, *REDUCING) is None
            other.attrs.update({k: self.of(v, value, k) for k, v in value.attrs.items()})
            self._is_told = told
            return other
        if isinstance(value, Sequence):
            items = [self.of(v, owner, name, value) for v in value.items]
            return Sequence(value.kind, items, m.clock, value.exact)
        if isinstance(value, Mapping):
            result = Mapping(m.clock, value.exact)
            result.items.update({k: (a, self.of(b, owner, name, value)) for k, (a, b) in value.items.items()})
            return result
        if isinstance(value, Opaque):
            twin_ = m.opaque(value.name)
            if WEIGHTS in value.attrs:
                twin_.attrs[WEIGHTS] = self.of(value.attrs[WEIGHTS], owner, name)
            return twin_
        return value


def _require_grad_as(m: Core, twin: Tensor, leaf: Node, site: Site) -> None:
    """The copy of a leaf requires grad, as certainly as the leaf does."""
    node = m.require_grad(twin, site).node
    if node is not None:
        node.weak, node.presumed, node.observed = leaf.weak, leaf.presumed, leaf.observed


HANDLERS: dict[str, Handler] = {"copy.copy": _copy, "copy.deepcopy": deepcopy}
