"""The attributes of an object as the dict that Python keeps them in."""

from __future__ import annotations

from autodetach.machine.marks import is_mark
from autodetach.machine.program_values import Class, Instance
from autodetach.machine.values import Mapping, Sequence, Value


class AttributeView(dict):  # type: ignore[type-arg]
    """`obj.__dict__`: reads and writes the attributes of an instance under the hashable form of their names."""

    def __init__(self, this: Instance) -> None:
        super().__init__({("c", "str", k): (k, v) for k, v in this.attrs.items() if not is_mark(k)})
        self._this = this

    def __setitem__(self, key: object, pair: tuple[Value, Value]) -> None:
        super().__setitem__(key, pair)
        if isinstance(pair[0], str):
            self._this.attrs[pair[0]] = pair[1]

    def __delitem__(self, key: object) -> None:
        name = self[key][0]
        super().__delitem__(key)
        self._this.attrs.pop(name, None)

    def pop(self, key: object, *default: object) -> object:
        if key in self:
            pair = self[key]
            del self[key]
            return pair
        return default[0] if default else None

    def clear(self) -> None:
        for key in list(self):
            del self[key]

    def take_hidden(self, other: AttributeView) -> None:
        """What another object keeps under no name of the program: the items of a list, which of its names are what."""
        self._this.open = other._this.open
        for name, value in other._this.attrs.items():
            if is_mark(name):
                twin = Sequence(value.kind, list(value.items), value.born) if isinstance(value, Sequence) else value
                self._this.attrs.setdefault(name, twin)


def replace_attributes(this: Instance, given: Mapping) -> None:
    """`twin.__dict__ = this.__dict__.copy()`: have an object keep what a dict holds, and nothing else."""
    view = AttributeView(this)
    view.clear()
    source = given if given.copied is None else given.copied
    if isinstance(source.items, AttributeView):
        view.take_hidden(source.items)
    for key, pair in given.items.items():
        view[key] = pair


def names_of_class(cls: Class, born: int) -> Mapping:
    """`vars(cls)`: what a class has itself, which cannot be changed by way of this."""
    names = Mapping(born)
    names.items = {("c", "str", name): (name, value) for name, value in cls.names.items()}
    return names
