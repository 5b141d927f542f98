"""What modules hold: other modules, parameters and buffers, by name."""

from __future__ import annotations

from functools import cache

from autodetach.machine.marks import ITEMS, WEIGHTS
from autodetach.machine.program_values import Class, External, Instance
from autodetach.machine.told_of_values import key_of
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value

OF_TENSORS = frozenset({Tensor, Opaque})
BUFFERS, PARAMETERS = "#buffers", "#parameters"
"""The names under which a module holds tensors that count as such, though nothing else says that they are."""
MADE_BUFFER = "#buffer"
"""Marks what `torch.nn.Buffer` has made: a module that it is given to registers it as one of its buffers."""


def is_module(value: Value) -> bool:
    """An instance of a class that derives from `nn.Module`, as far as that is known."""
    return isinstance(value, Instance) and _module_class(value.cls)


@cache
def _is_path_of_module(path: str) -> bool:
    return path.startswith("torch.nn.") or path.endswith("Module")


def _module_class(cls: Class | External) -> bool:
    if isinstance(cls, External):
        return _is_path_of_module(cls.path)
    if cls.of_modules is None:
        cls.of_modules = any(
            _module_class(b) if isinstance(b, (Class, External)) else isinstance(b, Opaque) and "Module" in b.name
            for b in cls.bases
        )
    return cls.of_modules


def children_of(this: Instance) -> list[tuple[str, Instance]]:
    """The modules that a module holds itself, with their names: in its list or dict, and as attributes."""
    found: list[tuple[str, Instance]] = []
    for name, value in this.attrs.items():
        if type(value) is Instance and _module_class(value.cls):
            found.append((name, value))
    items = this.attrs.get(ITEMS)
    if isinstance(items, Sequence):
        names = {id(child): name for name, child in items.attrs.items()}
        each = [(names.get(id(v), str(i)), v) for i, v in enumerate(items.items) if isinstance(v, Instance)]
        return each + found
    if isinstance(items, Mapping):
        return [(str(key), v) for key, v in items.items.values() if isinstance(v, Instance)] + found
    return found


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


def modules_of(this: Instance) -> list[Instance]:
    """A module and all below it, each once, from above and in the order of their names."""
    found: dict[int, Instance] = {}
    pending = [this]
    while pending:
        module = pending.pop()
        if id(module) not in found:
            found[id(module)] = module
            pending += [child for _, child in reversed(children_of(module))]
    return list(found.values())


def parameters_of(this: Instance) -> list[Tensor]:
    """The parameters of a module and of all below it, each once."""
    found: dict[int, Tensor] = {}
    for value in this.attrs.values():
        kind = type(value)
        if kind is Tensor:
            if value.parameter:
                found[id(value)] = value
        elif kind is Instance or (kind is Opaque and WEIGHTS in value.attrs):
            break
    else:
        if this.attrs.keys().isdisjoint((ITEMS, PARAMETERS)):
            return list(found.values())
    found.clear()
    for module in modules_of(this):
        for _, tensor in own_tensors(module, PARAMETERS):
            found[id(tensor)] = tensor
    return list(found.values())


def set_buffer(this: Instance, name: str, value: Value) -> None:
    """Register a buffer: a tensor of the state that is no parameter."""
    this.attrs[name] = value
    note_name(this, BUFFERS, name)


def note_name(this: Instance, kind: str, name: str) -> None:
    """Have what a module holds under a name count as one of its buffers, or its parameters, whatever it is."""
    names = this.attrs.setdefault(kind, Sequence("list", [], this.born))
    if name not in names.items:
        names.items.append(name)


def _registered(this: Instance, kind: str) -> list[Value]:
    """The names of which a module was told that what it holds under them counts as such."""
    names = this.attrs.get(kind)
    return names.items if isinstance(names, Sequence) else []


def is_buffer(this: Instance, name: str) -> bool:
    """Whether a module has registered a buffer under a name: by that it takes a tensor or None, and nothing else."""
    return BUFFERS in this.attrs and name in _registered(this, BUFFERS)


def forget_name(this: Instance, name: str) -> None:
    """Have a module hold nothing under a name any more."""
    this.attrs.pop(name, None)
    for kind in (BUFFERS, PARAMETERS):
        if kind in this.attrs and name in this.attrs[kind].items:
            this.attrs[kind].items.remove(name)


def named_modules(this: Instance) -> list[tuple[str, Instance]]:
    """A module and all below it by dotted name, each once; the module itself has no name."""
    found: dict[int, tuple[str, Instance]] = {}
    pending = [("", this)]
    while pending:
        path, module = pending.pop()
        if id(module) not in found:
            found[id(module)] = path, module
            prefix = f"{path}." if path else ""
            pending += [(prefix + name, child) for name, child in reversed(children_of(module))]
    return list(found.values())


def named_tensors(this: Instance, kind: str = "") -> list[tuple[str, Tensor]]:
    """Parameters and buffers by name, each once; of one `kind`, if that is given."""
    found: dict[int, tuple[str, Tensor]] = {}
    for path, module in named_modules(this):
        for name, value in own_tensors(module, kind):
            if id(value) not in found:
                found[id(value)] = f"{path}.{name}" if path else name, value
    return list(found.values())


def own_tensors(module: Instance, kind: str = "") -> list[tuple[str, Tensor]]:
    """What a module holds itself of that."""
    held: list[tuple[str, Value]] = []
    for one in module.attrs.items():
        if type(one[1]) in OF_TENSORS:
            held.append(one)
    items = module.attrs.get(ITEMS)
    if isinstance(items, Sequence):
        held += [(str(i), v) for i, v in enumerate(items.items)]
    elif isinstance(items, Mapping):
        held += [(str(k), v) for k, v in items.items.values()]
    if not held:
        return []
    buffers, parameters = _registered(module, BUFFERS), _registered(module, PARAMETERS)
    found: list[tuple[str, Tensor]] = []
    for name, value in held:
        if type(value) is Opaque:
            value = value.attrs.get(WEIGHTS)  # what stands for the parameters of a module that is not in view
        if type(value) is not Tensor:
            continue
        is_parameter = value.parameter or name in parameters
        if (is_parameter and kind != BUFFERS) or (not is_parameter and name in buffers and kind != PARAMETERS):
            found.append((name, value))
    return found
