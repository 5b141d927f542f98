"""What modules hold: other modules, parameters and buffers, by name."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine.marks import ITEMS, WEIGHTS
from autodetach.machine.program_values import Class, External, Instance
from autodetach.machine.told_of_values import key_of
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value

BUFFERS, PARAMETERS = "#buffers", "#parameters"
"""The names under which a module holds tensors that count as such, though nothing else says that they are."""


def is_module(value: Value) -> bool:
    """An instance of a class that derives from `nn.Module`, as far as that is known."""
    return isinstance(value, Instance) and _module_class(value.cls)


def _module_class(cls: Class | External) -> bool:
    if isinstance(cls, External):
        return cls.path.startswith("torch.nn.") or cls.path.endswith("Module")
    if cls.of_modules is None:
        cls.of_modules = any(
            _module_class(b) if isinstance(b, (Class, External)) else isinstance(b, Opaque) and "Module" in b.name
            for b in cls.bases
        )
    return cls.of_modules


def children_of(this: Instance) -> Iterator[tuple[str, Instance]]:
    """The modules that a module holds itself, with their names: in its list or dict, and as attributes."""
    items = this.attrs.get(ITEMS)
    if isinstance(items, Sequence):
        names = {id(child): name for name, child in items.attrs.items()}
        for i, item in enumerate(items.items):
            if isinstance(item, Instance):
                yield names.get(id(item), str(i)), item
    elif isinstance(items, Mapping):
        for key, item in items.items.values():
            if isinstance(item, Instance):
                yield str(key), item
    held = [(name, value) for name, value in this.attrs.items() if type(value) is Instance]
    for name, value in held:
        if is_module(value):
            yield name, value


def set_child(this: Instance, name: str, child: Value) -> None:
    """Hold a module under a name: in the list or dict of a module that has one, else as an attribute.

    Of a list, `attrs` keeps the children that have names of their own, as in `Sequential(OrderedDict(...))`.
    """
    items = this.attrs.get(ITEMS)
    if isinstance(items, Mapping):
        items.items[key_of(name)] = (name, child)
    elif isinstance(items, Sequence):
        before = named_child(this, name)
        at = next((i for i, item in enumerate(items.items) if item is before), len(items.items))
        items.items[at : at + 1] = [child]
        if name != str(at):
            items.attrs[name] = child
    else:
        this.attrs[name] = child


def named_child(this: Instance, name: str) -> Value:
    """What the list or dict of a module holds under a name, or None."""
    items = this.attrs.get(ITEMS)
    if isinstance(items, Mapping):
        return items.items.get(key_of(name), (name, None))[1]
    if isinstance(items, Sequence):
        if name in items.attrs or not (name.isdecimal() and int(name) < len(items.items)):
            return items.attrs.get(name)
        child = items.items[int(name)]
        return None if any(child is other for other in items.attrs.values()) else child
    return None


def modules_of(this: Instance, seen: set[int] | None = None) -> Iterator[Instance]:
    """A module and all below it, each once."""
    seen = set() if seen is None else seen
    if id(this) in seen:
        return
    seen.add(id(this))
    yield this
    for _, child in children_of(this):
        yield from modules_of(child, seen)


def parameters_of(this: Instance) -> list[Tensor]:
    """The parameters of a module and of all below it, each once."""
    found: dict[int, Tensor] = {}
    for value in list(this.attrs.values()):
        if isinstance(value, Tensor):
            if value.parameter:
                found[id(value)] = value
        elif isinstance(value, Instance) or (isinstance(value, Opaque) and WEIGHTS in value.attrs):
            break
    else:
        if this.attrs.keys().isdisjoint((ITEMS, PARAMETERS)):
            return list(found.values())
    found.clear()
    for module in modules_of(this):
        found.update((id(tensor), tensor) for _, tensor in own_tensors(module, PARAMETERS))
    return list(found.values())


def _of_unknown(value: Value) -> Value:
    """What stands for the parameters of a module that is not in view; any other value itself."""
    return value.attrs.get(WEIGHTS, value) if isinstance(value, Opaque) else value


def set_buffer(this: Instance, name: str, value: Value) -> None:
    """Register a buffer: a tensor of the state that is no parameter."""
    this.attrs[name] = value
    note_name(this, BUFFERS, name)


def note_name(this: Instance, kind: str, name: str) -> None:
    """Have what a module holds under a name count as one of its buffers, or its parameters, whatever it is."""
    names = this.attrs.setdefault(kind, Sequence("list", [], this.born))
    if name not in names.items:
        names.items.append(name)


def forget_name(this: Instance, name: str) -> None:
    """Have a module hold nothing under a name any more."""
    this.attrs.pop(name, None)
    for kind in (BUFFERS, PARAMETERS):
        if kind in this.attrs and name in this.attrs[kind].items:
            this.attrs[kind].items.remove(name)


def named_modules(this: Instance, prefix: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Instance]]:
    """A module and all below it by dotted name, each once; the name of the module itself is `prefix`."""
    seen = set() if seen is None else seen
    if id(this) in seen:
        return
    seen.add(id(this))
    yield prefix, this
    for name, child in children_of(this):
        yield from named_modules(child, f"{prefix}.{name}" if prefix else name, seen)


def named_tensors(this: Instance, kind: str = "") -> Iterator[tuple[str, Tensor]]:
    """Parameters and buffers by name, each once; of one `kind`, if that is given."""
    seen: set[int] = set()
    for prefix, module in named_modules(this):
        for name, value in own_tensors(module, kind):
            if id(value) not in seen:
                seen.add(id(value))
                yield f"{prefix}.{name}" if prefix else name, value


def own_tensors(module: Instance, kind: str = "") -> Iterator[tuple[str, Tensor]]:
    """What a module holds itself of that."""
    held = [(name, value) for name, value in module.attrs.items() if isinstance(value, (Tensor, Opaque))]
    items = module.attrs.get(ITEMS)
    if isinstance(items, Sequence):
        held += [(str(i), v) for i, v in enumerate(items.items)]
    elif isinstance(items, Mapping):
        held += [(str(k), v) for k, v in items.items.values()]
    if not held:
        return
    buffers, parameters = (module.attrs[k].items if k in module.attrs else () for k in (BUFFERS, PARAMETERS))
    for name, held_value in held:
        value = _of_unknown(held_value)
        if not isinstance(value, Tensor):
            continue
        is_parameter = value.parameter or name in parameters
        if (is_parameter and kind != BUFFERS) or (not is_parameter and name in buffers and kind != PARAMETERS):
            yield name, value
