"""Entry points: functions and methods that nobody in view calls, and how somebody else calls them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, TypeAlias, TypeVar

from autodetach.machine.bystanders import is_bystander
from autodetach.machine.classes import linear_order
from autodetach.machine.counters import Restore, widen
from autodetach.machine.differentiation import differentiate
from autodetach.machine.filled_later import fill
from autodetach.machine.given_by_callers import defaults_of, given_by_name, not_none
from autodetach.machine.graph import Site
from autodetach.machine.held import graph_in
from autodetach.machine.inherited import inherited_runners
from autodetach.machine.interpreter import Machine
from autodetach.machine.made_by_callers import Others, constructed
from autodetach.machine.module_tree import is_module
from autodetach.machine.reach import Reach
from autodetach.machine.set_up import set_up
from autodetach.machine.spelling import last_word
from autodetach.machine.state import Raised
from autodetach.machine.trainers import is_for_trainers
from autodetach.machine.values import Class, Frame, Function, Instance, Mapping, Opaque, Tensor, Value

Entry: TypeAlias = Callable[[], list[str]]
"""Runs a function, or the methods of a class, and tells the qualified names of what it entered."""
Called: TypeAlias = tuple[str, Function]
"""The name by which others call a function or method, and itself."""
T = TypeVar("T")
CALLED_FROM = "_called_from"
"""The field of a call that stands in no file with the function whose place it has."""


class Calls(NamedTuple):
    """What is known of how functions and methods are called that a run has not called, by their qualified names.

    `in_view` are those whose calls are all to be seen, on another path: none of them is called by somebody else, in the
    state that this path has left. `once` are those that this path would have called, had an error not stopped it.
    """

    in_view: frozenset[str] = frozenset()
    once: frozenset[str] = frozenset()


def number_of_entries(machine: Machine, reach: Reach) -> int:
    """How many functions that begin a history, and classes, there are to enter before any of them is entered."""
    functions = sum(reach.begins(f.name) for f in open_functions(machine, reach))
    return functions + sum(bool(open_methods(cls, reach)) for cls in machine.classes)


def entries(machine: Machine, reach: Reach, calls: Calls) -> Iterator[Entry]:
    """What is to be entered, one after the other: what one of them calls is none any more.

    Methods are entered again and again, but for what is known of their calls.
    """
    for function in functions_in_order(machine, reach):
        if function.called or function.qualname in calls.in_view:
            continue
        if not is_bystander(machine, reach, function.name, [function]):
            yield partial(enter_function, machine, function)
    for cls in classes_in_order(machine, reach):
        if open_methods(cls, reach) and not is_bystander(machine, reach, cls.name, found_by(machine, cls)):
            yield partial(enter_class, machine, cls, reach, calls)


def open_functions(machine: Machine, reach: Reach) -> list[Function]:
    """The functions of the file that nobody has called, as far as they can show a fault."""
    return [f for f in _uncalled_functions(machine) if reach.matters(f.name)]


def _uncalled_functions(machine: Machine) -> list[Function]:
    return [f for f in machine.functions if f.owner is None and "." not in f.qualname and not f.called]


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
        for other in names_in_it & asked.keys() - {name}:
            callers[other].add(name)
    ordered: list[tuple[str, T]] = []
    while waiting:
        place = next((n for n, (name, _) in enumerate(waiting) if not callers[name]), 0)
        first = waiting.pop(place)
        ordered.append(first)
        for other in asked[first[0]] & asked.keys():
            callers[other].discard(first[0])
    return ordered


def functions_of(machine: Machine) -> Iterator[Function]:
    """What may be an entry point: functions, and methods of classes."""
    yield from machine.functions
    for cls in machine.classes:
        yield from (value for value in cls.names.values() if isinstance(value, Function))


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
    enter(machine, function, [], repeated=False)
    return [function.qualname]


def enter_class(machine: Machine, cls: Class, reach: Reach, calls: Calls) -> list[str]:
    """Call the methods of an object that nobody has called."""
    entered: list[str] = []
    open_ = methods_in_order(cls, reach)
    overriding = {name for name, value in open_ if value.qualname not in calls.in_view}
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
    return entered + enter_inherited(machine, this, inherited_runners(cls, overriding, reach), reach, calls)


def enter_inherited(machine: Machine, this: Instance, methods: list[Called], reach: Reach, calls: Calls) -> list[str]:
    """Call methods of bases for an object of a class that overrides what they call, callers first."""
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


def enter(
    machine: Machine,
    function: Function,
    args: list[Value],
    *,
    repeated: bool,
    reach: Reach | None = None,
    others: Others | None = None,
) -> None:
    """Call a function that nobody in view calls, with arguments of which nothing is known but what their names tell."""
    site = Site(function.node, function.qualname)
    outer = machine.loops
    machine.entered = args[0] if args else None
    activation = machine.activate(None, Frame(None, function.qualname), exact=not repeated)
    activation.frame = function
    forward = function.name == "forward" and function.owner is not None
    machine.in_forward += forward
    machine.in_module = is_module(machine.entered)
    given = given_by_name(machine, function) | flags_of(machine, function)
    filled: list[Restore] = []
    more = given_more(machine, function, args, given, filled, reach, others)
    try:
        for _ in range(3 if repeated else 1):
            machine.grad_enabled = not turns_gradients_on(function)
            if repeated:
                machine.enter_pass(activation, outer)
            known, refused = len(machine.differentiations), len(machine.type_faults)
            undo = [] if reach is None else widen(machine, machine.entered, function.name, reach)
            try:
                is_asked = False
                while True:
                    try:
                        result = machine.call_function(function, list(args), given, site)
                        break
                    except Raised:
                        if len(machine.differentiations) > known or next(more, None) is None:
                            raise
                        is_asked = True
                        del machine.type_faults[refused:]
                more = iter(()) if is_asked else more
                if function.is_generator:
                    machine.collect(result, site)
            except Raised:
                machine.break_off(refused)
                return
            finally:
                for restore in undo:
                    restore()
            is_bare = repeated and len(machine.differentiations) == known
            if is_bare and is_for_trainers(function, machine.entered, trees_of(machine)):
                differentiate_returned(machine, function, result)
            if result is None or result is not machine.entered:  # whoever calls a method has its object
                machine.escape([result], site, "return")
            if not any(True for _ in graph_in(result)) and not machine.nodes:
                return
    finally:
        for restore in filled:
            restore()
        machine.in_forward -= forward
        machine.in_module = False
        machine.loops = outer
        machine.finish(activation)


def given_more(
    machine: Machine,
    function: Function,
    args: list[Value],
    given: dict[str, Value],
    filled: list[Restore],
    reach: Reach | None,
    others: Others | None,
) -> Iterator[bool]:
    """What callers give, and have done before, where the least is not enough: `args` and `given` hold it each time."""
    more = not_none(machine, function)
    made: list[str] = []
    if reach is not None:
        made = set_up(machine, machine.entered, [function.name], reach, empty=True)
        filled += fill(machine, machine.entered, function.name, reach)
    given |= more
    if more or filled or made:
        yield True
    other = None if others is None else others.instead_of(args[0], function)
    if other is not None and reach is not None:
        args[0] = machine.entered = other
        filled += widen(machine, other, function.name, reach)
        yield True


def trees_of(machine: Machine) -> list[ast.Module]:
    """Of the files in view."""
    return [] if machine.project is None else [module.tree for module in machine.project.modules]


def turns_gradients_on(function: Function) -> bool:
    """Whether a function turns gradients on behind its first statements: so its caller has turned them off."""
    node = function.node
    modes = [] if isinstance(node, ast.Lambda) else [grad_mode_set_by(statement) for statement in node.body]
    first = next((n for n, mode in enumerate(modes) if mode is not None), 0)
    return first > 0 and modes[first] is True


def grad_mode_set_by(statement: ast.stmt) -> bool | None:
    """`torch.set_grad_enabled(True)` as a statement: the mode, None for any other statement."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not (isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant)):
        return None
    mode = call.args[0].value
    return mode if last_word(call.func) == "set_grad_enabled" and isinstance(mode, bool) else None


def flags_of(machine: Machine, function: Function) -> dict[str, Value]:
    """The parameters that are True or False by default, which the default path takes them for: callers may differ."""
    given: dict[str, Value] = {}
    for name, default in defaults_of(function):
        if isinstance(default, bool):
            given[name] = flag = machine.opaque(name)
            machine.oracle.presumed[machine.key(flag)] = machine.key(default)
    return given


def differentiate_returned(machine: Machine, function: Function, result: Value) -> None:
    """What a `training_step` returns is differentiated by the trainer that calls it (Lightning's automatic way).

    One that differentiates by itself (the manual way) is left alone.
    """
    loss = result
    if isinstance(result, Mapping):
        loss = next((v for k, v in result.items.values() if k == "loss"), None)
    if isinstance(loss, (Tensor, Opaque)) and loss.node is not None:
        call = ast.Call(ast.Attribute(ast.Name("trainer", ast.Load()), "backward", ast.Load()), [], [])
        ast.copy_location(call, function.node)
        setattr(call, CALLED_FROM, function.node)
        differentiate(machine, [loss], call, Site(call, function.qualname), kind="wrapper")
