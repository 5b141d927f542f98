"""What an object of a class with a base out of view lists as its parameters and modules: those in view, and others.

`class Net(Template)` may be a module by its base. It is one if it is asked for its parameters: what a loop over them
does to each, it does to those that are known to be below it.
"""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.module_tree import PARAMETERS, is_module, modules_of, named_modules, named_tensors
from autodetach.machine.passes import MAX_PASSES
from autodetach.machine.program_values import Instance, Iterable, Native
from autodetach.machine.values import Opaque, Sequence, Value

LISTED = "#listed"
"""Marks such a listing, by the object and by what is listed of it."""
LISTINGS = frozenset({"parameters", "named_parameters", "modules", "named_modules"})


def listing(m: Core, this: Instance, name: str) -> Native:
    """The method of that name, of which it is not known what all it lists."""

    def call(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        made = m.call_unknown(name, args, kwargs, site)
        made.attrs[LISTED] = Sequence("tuple", [this, name])
        return made

    return Native(name, call, this)


def items(m: Core, value: Opaque, site: Site) -> Iterable | None:
    """What a loop over such a listing runs through, if anything of it is known."""
    listed = value.attrs.get(LISTED)
    known = list(_known(m, *listed.items)) if isinstance(listed, Sequence) else []
    if not known:
        return None

    def tell(exact: bool) -> Iterator[Value]:
        yield from known
        for _ in range(MAX_PASSES):
            yield m.part(value, "item", site)

    return Iterable(tell, len(known) + MAX_PASSES, value.name, listed=True)


def _known(m: Core, this: Instance, name: str) -> Iterator[Value]:
    seen: set[int] = set()
    for top in _tops(this):
        found = named_modules(top) if name.endswith("modules") else named_tensors(top, PARAMETERS)
        for key, one in found:
            if id(one) not in seen:
                seen.add(id(one))
                named = key if top is this else m.fresh("str")
                yield Sequence("tuple", [named, one], m.clock) if name.startswith("named") else one


def _tops(this: Instance) -> Iterator[Instance]:
    """The object itself, and those below it that are modules by a base out of view, if they are."""
    pending, seen = [this], {id(this)}
    while pending:
        top = pending.pop()
        yield top
        for module in modules_of(top):
            for held in module.attrs.values():
                if isinstance(held, Instance) and held.open and not is_module(held) and id(held) not in seen:
                    seen.add(id(held))
                    pending.append(held)
