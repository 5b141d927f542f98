"""`copy.copy` and `copy.deepcopy`."""

from __future__ import annotations

from autodetach.machine.core import MISSING, Core
from autodetach.machine.graph import Site
from autodetach.machine.implicit_calls import special
from autodetach.machine.python_builtins import Handler
from autodetach.machine.values import Instance, Mapping, Opaque, Sequence, Tensor, Value


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
    if isinstance(value, Instance):
        return _twin(m, value, dict(value.attrs))
    return value


def _twin(m: Core, this: Instance, attrs: dict[str, Value]) -> Instance:
    """Another object of the same class with these attributes."""
    twin = Instance(this.cls, m.serial(), m.clock)
    twin.open = this.open
    twin.attrs = attrs
    return twin


def deepcopy(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    return _deep_copy(m, args[0], {}, 0, site) if args else None


def _deep_copy(m: Core, value: Value, seen: dict[int, Value], depth: int, site: Site) -> Value:
    def copied(inner: Value) -> Value:
        return _deep_copy(m, inner, seen, depth + 1, site)

    if id(value) in seen or depth > 8:
        return seen.get(id(value), value)
    if isinstance(value, Tensor):
        if value.node is not None and not value.node.leaf:
            m.type_fault(site, "deep-copies a tensor with history", "deepcopy")
        twin = Tensor(None, value.shape, value.is_float)
        twin.parameter = value.parameter
        if value.node is not None:
            m.require_grad(twin, site)
        seen[id(value)] = twin
        return twin
    found = special(m, value, ("__deepcopy__",), [Mapping(m.clock)], site)
    if found is not MISSING:
        seen[id(value)] = found
        return found
    if isinstance(value, Instance):
        other = seen[id(value)] = _twin(m, value, {})
        other.attrs.update({k: copied(v) for k, v in value.attrs.items()})
        return other
    if isinstance(value, Sequence):
        return Sequence(value.kind, [copied(v) for v in value.items], m.clock, value.exact)
    if isinstance(value, Mapping):
        result = Mapping(m.clock, value.exact)
        result.items.update({k: (a, copied(b)) for k, (a, b) in value.items.items()})
        return result
    if isinstance(value, Opaque):
        twin_ = m.opaque(value.name)
        if "#weights" in value.attrs:
            twin_.attrs["#weights"] = copied(value.attrs["#weights"])
        return twin_
    return value


FUNCTIONS: dict[str, Handler] = {"copy.copy": _copy, "copy.deepcopy": deepcopy}
