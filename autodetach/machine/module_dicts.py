"""The dicts in which a module keeps its parameters, buffers and children, which programs write into by themselves.

https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/modules/module.py (`__getattr__`, `__setattr__`)
"""

from __future__ import annotations

from collections.abc import Hashable, ItemsView, Iterator, KeysView, ValuesView

from autodetach.machine.marks import ITEMS
from autodetach.machine.module_tree import (
    BUFFERS,
    PARAMETERS,
    children_of,
    forget_name,
    is_module,
    note_name,
    own_tensors,
    set_child,
)
from autodetach.machine.program_values import Instance
from autodetach.machine.told_of_values import key_of
from autodetach.machine.values import Mapping, Sequence, Value

TENSORS = {"_parameters": PARAMETERS, "_buffers": BUFFERS}
NAMES = frozenset({*TENSORS, "_modules"})

Entry = tuple[Value, Value]


class _TensorsView(dict):  # type: ignore[type-arg]
    """`module._parameters`, or `_buffers`, as it is by the time that it is looked at."""

    def __init__(self, this: Instance, kind: str) -> None:
        super().__init__()
        self._this = this
        self._kind = kind

    def _now(self) -> dict[Hashable, Entry]:
        return {key_of(name): (name, tensor) for name, tensor in own_tensors(self._this, self._kind)}

    def __getitem__(self, key: Hashable) -> Entry:
        return self._now()[key]

    def __contains__(self, key: object) -> bool:
        return key in self._now()

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._now())

    def __reversed__(self) -> Iterator[Hashable]:
        return reversed(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def keys(self) -> KeysView[Hashable]:  # type: ignore[override]
        return self._now().keys()

    def values(self) -> ValuesView[Entry]:  # type: ignore[override]
        return self._now().values()

    def items(self) -> ItemsView[Hashable, Entry]:  # type: ignore[override]
        return self._now().items()

    def get(self, key: object, default: object = None) -> object:
        return self._now().get(key, default)

    def __setitem__(self, key: Hashable, pair: Entry) -> None:
        name, value = pair
        if isinstance(name, str):
            if ITEMS in self._this.attrs:
                set_child(self._this, name, value)
            else:
                self._this.attrs[name] = value
            note_name(self._this, self._kind, name)

    def __delitem__(self, key: Hashable) -> None:
        forget_name(self._this, self._now()[key][0])

    def pop(self, key: Hashable, *default: object) -> object:
        if default and key not in self:
            return default[0]
        pair = self[key]
        del self[key]
        return pair

    def clear(self) -> None:
        for key in self:
            del self[key]


class _ModulesView(dict):  # type: ignore[type-arg]
    """`module._modules`: reads and writes the children of a module under the hashable form of their names."""

    def __init__(self, this: Instance) -> None:
        super().__init__({key_of(name): (name, child) for name, child in children_of(this)})
        self._this = this

    def __setitem__(self, key: object, pair: Entry) -> None:
        super().__setitem__(key, pair)
        name, value = pair
        if isinstance(name, str):
            set_child(self._this, name, value)


def held_by_name(this: Instance, name: str) -> Mapping:
    """`module._modules`, `module._parameters` or `module._buffers`."""
    view = Mapping(this.born)
    view.items = _TensorsView(this, TENSORS[name]) if name in TENSORS else _ModulesView(this)
    items = this.attrs.get(ITEMS)
    view.exact = not this.open and (not isinstance(items, (Sequence, Mapping)) or items.exact)
    return view


def is_of_tensors(held: Mapping) -> bool:
    """Whether that is a module's dict of parameters or buffers, of which each is asked for what tensors have."""
    return isinstance(held.items, _TensorsView)


def replace_held(this: Instance, name: str, given: Mapping) -> None:
    """Have a module keep what a dict holds, and nothing else of that kind: `clone._parameters = {...}`."""
    pairs = [(key, value) for key, value in given.items.values() if isinstance(key, str)]
    if name in TENSORS:
        for old, _ in list(own_tensors(this, TENSORS[name])):
            forget_name(this, old)
        for key, value in pairs:
            this.attrs[key] = value
            note_name(this, TENSORS[name], key)
        return
    held = this.attrs.get(ITEMS)
    if isinstance(held, Sequence):  # a copy of a module may share the list of its children with that
        this.attrs[ITEMS] = Sequence(held.kind, [], held.born, held.exact)
    elif isinstance(held, Mapping):
        this.attrs[ITEMS] = Mapping(held.born, held.exact)
    else:
        for old, _ in list(children_of(this)):
            this.attrs.pop(old, None)
    for key, value in pairs:
        set_child(this, key, value)


def is_kept_by_name(this: Value, name: str) -> bool:
    """Whether that is a module's dict of parameters, buffers or children."""
    return name in NAMES and is_module(this)
