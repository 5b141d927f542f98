"""`object.__setattr__(self, name, value)`, which asks no class: of a frozen record, or to hide a module in another."""

from __future__ import annotations

from autodetach.machine.core import Core
from autodetach.machine.descriptors import is_set_by_class
from autodetach.machine.events import AttributeSet
from autodetach.machine.graph import Site
from autodetach.machine.held import keeps_history
from autodetach.machine.metaclasses import set_past_metaclass
from autodetach.machine.module_tree import is_module
from autodetach.machine.program_values import Class, External, Instance
from autodetach.machine.state import MISSING
from autodetach.machine.values import Mapping, Value

OWNERS: dict[str, type[Instance | Class]] = {"builtins.object": Instance, "builtins.type": Class}
HIDDEN = "#hidden"
"""Of a module: what it holds, and has not registered, so that neither `parameters()` nor `train()` finds it."""


def sets_past_class(function: External, args: list[Value]) -> bool:
    owner, _, name = function.path.rpartition(".")
    kind = OWNERS.get(owner) if name == "__setattr__" and len(args) == 3 else None
    return kind is not None and isinstance(args[0], kind)


def deletes_past_class(function: External, args: list[Value]) -> bool:
    is_given = len(args) == 2 and isinstance(args[0], Instance) and isinstance(args[1], str)
    return function.path == "builtins.object.__delattr__" and is_given


def set_past_class(m: Core, this: Instance | Class, name: Value, new: Value, site: Site) -> None:
    """Set an attribute as it is; a module does not learn of it."""
    if isinstance(this, Class):
        if isinstance(name, str):
            set_past_metaclass(m, this, name, new, site)
        return
    if not isinstance(name, str) or is_set_by_class(m, this, name, new, site):
        return
    if is_module(this) and name not in this.attrs:
        hidden = this.attrs.setdefault(HIDDEN, Mapping(this.born))
        if isinstance(hidden, Mapping):
            hidden.items[name] = (name, new)
        return
    this.attrs[name] = new
    if keeps_history(new):
        m.attributes_set.append(AttributeSet(this, name, new, site))


def hidden_in(this: Instance, name: str) -> Value:
    """What a module holds under a name without having registered it, or MISSING."""
    hidden = this.attrs.get(HIDDEN)
    return hidden.items.get(name, (name, MISSING))[1] if isinstance(hidden, Mapping) else MISSING
