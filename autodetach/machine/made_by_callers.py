"""Objects of classes that nobody in view makes: as a caller makes one who gives the least, or more than that."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine import data_sets, parameter_classes
from autodetach.machine.given_by_callers import given_by_name, not_none
from autodetach.machine.graph import Site
from autodetach.machine.interpreter import Machine
from autodetach.machine.program_values import Class, Function, Instance
from autodetach.machine.reach import Reach
from autodetach.machine.set_up import lacks, set_up
from autodetach.machine.state import Given, Raised
from autodetach.machine.values import Value


def constructed(machine: Machine, cls: Class) -> Iterator[Instance]:
    """An object as the program has made one, or as a caller in view of nobody would.

    Then another one, where all makers are out of view: they may give more than they must. Where each way ends in an
    error, an object that is made in part, and none if the last error is raised by the program itself.
    """
    site, init = Site(cls.node, cls.qualname), machine.class_attribute(cls, "__init__")
    is_made = isinstance(init, Function) and init.called
    refused: Given | None = None
    found = False
    for given in arguments_for(machine, cls, init):
        faults = len(machine.type_faults)
        try:
            made = machine.instantiate(cls, given.args, given.kwargs, site)
        except Raised as error:
            del machine.type_faults[faults:]
            refused = given if error.value is None else None
            continue
        found = True
        if isinstance(made, Instance):
            yield made
        if is_made or not isinstance(made, Instance):
            return
    if refused is not None and not found and not parameter_classes.makes_parameter(cls):
        part = made_in_part(machine, cls, init, refused, site)
        if part is not None:
            yield part


def made_in_part(machine: Machine, cls: Class, init: Value, given: Given, site: Site) -> Instance | None:
    """An object with what its constructor makes before Python raises an error, and all else of it unknown.

    Too much was assumed of what it is given, or others make the rest: what its methods do is to be seen all the same.
    """
    this = Instance(cls, machine.serial(), machine.clock)
    constructor = machine.bind(init, this, site)
    try:
        data_sets.made(machine, this, lambda: machine.call(constructor, given.args, given.kwargs, site))
    except Raised:
        return None
    return this


def arguments_for(machine: Machine, cls: Class, init: Value) -> Iterator[Given]:
    """What a constructor is given: the likeliest first, the others where that ends in an error."""
    if cls in machine.given_to:
        yield machine.given_to[cls]
    named = given_by_name(machine, init)
    yield Given([], named)
    more = not_none(machine, init) if isinstance(init, Function) else {}
    if more:
        yield Given([], named | more)


class Others:
    """An object that is made with more than its constructor asks for, once a method could not do without."""

    def __init__(self, machine: Machine, makers: Iterator[Instance], names: list[str], reach: Reach) -> None:
        self._machine = machine
        self._makers = makers
        self._names = names
        self._reach = reach
        self._made: Instance | None = None

    def set_up(self, this: Instance) -> list[str]:
        """Call what is called before the methods; the qualified names."""
        return set_up(self._machine, this, self._names, self._reach)

    def instead_of(self, this: Value, method: Function) -> Instance | None:
        """An object in the place of one of which the method reads what is not there; None if there is none."""
        if not lacks(self._machine, this, [method.name], self._reach):
            return None
        if self._made is None:
            self._made = next(self._makers, None)
            if self._made is not None:
                set_up(self._machine, self._made, self._names, self._reach)
        return self._made
