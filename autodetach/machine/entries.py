"""Entry points: which functions and methods nobody in view calls, and in which order somebody else does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias, TypeVar

from autodetach.machine.bystanders import is_bystander
from autodetach.machine.classes import library_bases, linear_order
from autodetach.machine.entering import enter
from autodetach.machine.interpreter import Machine
from autodetach.machine.program_values import Class, ClassMethod, Function, Instance, StaticMethod
from autodetach.machine.reach import Reach
from autodetach.machine.values import Value
from autodetach.named_tuples import NamedTuple

Called: TypeAlias = tuple[str, Function]
"""The name by which others call a function or method, and itself."""
T = TypeVar("T")


class Entry(NamedTuple):
    """A function, or a class with its methods; `run` enters it, and tells the qualified names of what it entered."""

    name: str
    run: Callable[[], list[str]]


class Calls(NamedTuple):
    """What is known of how functions and methods are called that a run has not called, by their qualified names.

    `in_view` are those whose calls are all to be seen, on another path: none of them is called by somebody else, in the
    state that this path has left. `once` are those that this path would have called, had an error not stopped it.
    """

    in_view: frozenset[str] = frozenset()
    once: frozenset[str] = frozenset()


def number_of_entries(machine: Machine, reach: Reach) -> int:
    """How many functions that begin a history, and classes, there are to enter before any of them is entered."""
    functions = [*open_functions(machine, reach), *open_static_methods(machine, reach)]
    return sum(reach.begins(f.name) for f in functions) + sum(bool(open_methods(cls, reach)) for cls in machine.classes)


def entries(machine: Machine, reach: Reach, calls: Calls) -> Iterator[Entry]:
    """What is to be entered, one after the other: what one of them calls is none any more.

    Methods are entered again and again, but for what is known of their calls.
    """
    for function in functions_in_order(machine, reach):
        if function.called or function.qualname in calls.in_view:
            continue
        if not is_bystander(machine, reach, function.name, [function]):
            yield Entry(function.qualname, partial(enter_function, machine, function))
    for cls in classes_in_order(machine, reach):
        if open_methods(cls, reach) and not is_bystander(machine, reach, cls.name, found_by(machine, cls)):
            yield Entry(cls.name, partial(enter_class, machine, cls, reach, calls))
    for function in open_static_methods(machine, reach):
        if function.called or function.qualname in calls.in_view:
            continue
        if not is_bystander(machine, reach, function.name, [function, function.owner]):
            yield Entry(function.qualname, partial(enter_function, machine, function))


def open_functions(machine: Machine, reach: Reach) -> list[Function]:
    """The functions of the file that nobody has called, as far as they can show a fault."""
    return [f for f in _uncalled_functions(machine) if reach.matters(f.name)]


def _uncalled_functions(machine: Machine) -> list[Function]:
    return [f for f in machine.functions if f.owner is None and "." not in f.qualname and not f.called]


def open_static_methods(machine: Machine, reach: Reach) -> list[Function]:
    """The methods that nobody has called, and that need no object, as far as they can show a fault."""
    found = (function for cls in machine.classes for function in _static_methods(cls))
    return [f for f in found if not f.called and reach.matters(f.name)]


def _static_methods(cls: Class) -> Iterator[Function]:
    """The static methods of a class, and its class methods, without what autograd calls of a `Function`."""
    if not any(path.endswith("autograd.Function") for path in library_bases(cls)):
        for value in cls.names.values():
            if isinstance(value, (StaticMethod, ClassMethod)) and isinstance(value.function, Function):
                yield value.function


def open_methods(cls: Class, reach: Reach) -> list[tuple[str, Function]]:
    """The methods that nobody has called, as far as they can show a fault."""
    return [(name, method) for name, method in _uncalled(cls) if reach.matters(name)]


def _uncalled(cls: Class) -> Iterator[tuple[str, Function]]:
    for name, value in cls.names.items():
        if isinstance(value, Function) and not name.startswith("__") and not value.called:
            yield name, value


def methods_in_order(cls: Class, reach: Reach) -> list[Called]:
    """The open methods, and those that call them: callers first."""
    wanted = open_methods(cls, reach)
    others = [(name, method) for name, method in _uncalled(cls) if not reach.matters(name)]
    return callers_first(wanted, others, reach.asked_by)


def functions_in_order(machine: Machine, reach: Reach) -> list[Function]:
    """The open functions, and those that call them: callers first."""
    wanted = open_functions(machine, reach)
    others = [(f.name, f) for f in _uncalled_functions(machine) if not reach.matters(f.name)]
    return [f for _, f in callers_first([(f.name, f) for f in wanted], others, reach.asked_by_function)]


def classes_in_order(machine: Machine, reach: Reach) -> list[Class]:
    """The classes that have open methods, those that make objects of others first: as a network with networks in it.

    A class that derives from another one is not its caller.
    """
    wanted = [(cls.name, cls) for cls in machine.classes if open_methods(cls, reach)]
    bases = {name: {c.name for c in linear_order(cls)} for name, cls in wanted}
    return [cls for _, cls in callers_first(wanted, [], lambda name: reach.asked_by_class(name) - bases[name])]


def callers_first(
    wanted: list[tuple[str, T]], others: list[tuple[str, T]], asked_by: Callable[[str], frozenset[str]]
) -> list[tuple[str, T]]:
    """The wanted ones, and those of the others that call them, in an order in which what others call is behind these.

    A caller knows what it gives, how often, and whether gradients are on.
    """
    names = {name for name, _ in wanted}
    waiting = wanted + [(name, one) for name, one in others if not asked_by(name).isdisjoint(names)]
    asked = {name: asked_by(name) for name, _ in waiting}
    callers: dict[str, set[str]] = {name: set() for name in asked}
    for name, names_in_it in asked.items():
        for other in names_in_it.intersection(asked) - {name}:
            callers[other].add(name)
    ordered: list[tuple[str, T]] = []
    while waiting:
        place = next((n for n, (name, _) in enumerate(waiting) if not callers[name]), 0)
        first = waiting.pop(place)
        ordered.append(first)
        for other in asked[first[0]].intersection(asked):
            callers[other].discard(first[0])
    return ordered


def functions_of(machine: Machine) -> Iterator[Function]:
    """What may be an entry point: functions, and methods of classes."""
    yield from machine.functions
    for cls in machine.classes:
        yield from (value for value in cls.names.values() if isinstance(value, Function))
        yield from _static_methods(cls)


def not_reached(machine: Machine, reach: Reach) -> frozenset[str]:
    """The methods that those called would have called in turn, had the program not been stopped by an error."""
    asked = {name for f in functions_of(machine) if f.called for name in reach.asked_by(f.name)}
    return frozenset(f.qualname for f in functions_of(machine) if not f.called and f.name in asked)


def found_by(machine: Machine, cls: Class) -> list[Value]:
    """What the methods of a class find when they are entered."""
    given = machine.given_to.get(cls)
    return [cls, find_instance(machine, cls), *(given.values if given is not None else ())]


def find_instance(machine: Machine, cls: Class) -> Instance | None:
    for value in machine.globals.names.values():
        if isinstance(value, Instance) and value.cls is cls:
            return value
    return None


def enter_function(machine: Machine, function: Function) -> list[str]:
    """Call a function, or a method without an object: with its class, if it is a class method."""
    cls = function.owner
    is_of_class = cls is not None and isinstance(cls.names.get(function.name), ClassMethod)
    enter(machine, function, [cls] if is_of_class else [], repeated=False)
    return [function.qualname]


def enter_class(machine: Machine, cls: Class, reach: Reach, calls: Calls) -> list[str]:
    """Call the methods of an object that nobody has called."""
    from autodetach.machine.inherited import inherited_runners
    from autodetach.machine.made_by_callers import Others, constructed

    entered: list[str] = []
    open_ = methods_in_order(cls, reach)
    own = {name for name, value in open_ if value.qualname not in calls.in_view}
    this, others = find_instance(machine, cls), None
    if this is None:
        makers = constructed(machine, cls)
        this = next(makers, None)
        if this is None:
            return entered
        others = Others(machine, makers, [name for name, _ in open_], reach)
        entered += others.set_up(this)
    for name, value in open_:
        if not value.called and value.qualname not in calls.in_view:
            entered.append(f"{cls.name}.{name}")
            enter(machine, value, [this], repeated=value.qualname not in calls.once, reach=reach, others=others)
    return entered + enter_inherited(machine, this, inherited_runners(cls, own, reach), reach, calls)


def enter_inherited(machine: Machine, this: Instance, methods: list[Called], reach: Reach, calls: Calls) -> list[str]:
    """Call methods of bases for an object of a class that has what they call, callers first."""
    entered: list[str] = []
    called = [method for _, method in methods if method.called]
    for method in called:
        method.called = False  # for an object of the base
    for _, method in callers_first(methods, [], reach.asked_by):
        if not method.called and method.qualname not in calls.in_view:
            entered.append(method.qualname)
            enter(machine, method, [this], repeated=not calls.once, reach=reach)
    for method in called:
        method.called = True
    return entered
