"""How somebody out of view calls a function or method: what it gives, what it has done before, and how often."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.machine.activations import Activation, Loops
from autodetach.machine.differentiation import differentiate
from autodetach.machine.graph import Site
from autodetach.machine.held import graph_in
from autodetach.machine.interpreter import Machine
from autodetach.machine.module_tree import is_module
from autodetach.machine.program_values import Frame, Function
from autodetach.machine.reach import Reach
from autodetach.machine.renewed_elsewhere import note_entered
from autodetach.machine.spelling import last_word
from autodetach.machine.state import Raised
from autodetach.machine.values import Mapping, Opaque, Tensor, Value

if TYPE_CHECKING:
    from autodetach.machine.counters import Restore
    from autodetach.machine.made_by_callers import Others

CALLED_FROM = "_called_from"
"""The field of a call that stands in no file with the function whose place it has."""
PASSES = 3
"""How often what may be called again and again is called."""


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
    outer = machine.loops
    machine.entered = args[0] if args else None
    machine.setting_asked = None
    activation = machine.activate(None, Frame(None, function.qualname), exact=not repeated)
    activation.frame = function
    forward = function.name == "forward" and function.owner is not None
    machine.in_forward += forward
    machine.in_module = is_module(machine.entered)
    caller = Caller(machine, function, args, reach, others)
    try:
        for _ in range(PASSES if repeated else 1):
            if not caller.call(activation if repeated else None, outer):
                return
    finally:
        caller.restore()
        machine.in_forward -= forward
        machine.in_module = False
        machine.loops = outer
        machine.finish(activation)


class Caller:
    """Calls one function, and gives the least that it may give, or what the function cannot do without."""

    def __init__(
        self, machine: Machine, function: Function, args: list[Value], reach: Reach | None, others: Others | None
    ) -> None:
        from autodetach.machine.given_by_callers import given_by_name

        self._machine = machine
        self._function = function
        self._args = list(args)
        self._reach = reach
        self._others = others
        self._given = given_by_name(machine, function) | flags_of(machine, function)
        self._filled: list[Restore] = []
        self._more = self._gives_more()

    def restore(self) -> None:
        """Leave the object as it would be without what was done for the function."""
        for restore in self._filled:
            restore()

    def call(self, activation: Activation | None, outer: Loops) -> bool:
        """Call it once, in a pass of `activation` if there is one; whether another call may show more."""
        from autodetach.machine.counters import widen
        from autodetach.machine.set_by_others import presume_unset
        from autodetach.machine.trainers import is_for_trainers

        m, function = self._machine, self._function
        site = Site(function.node, function.qualname)
        note_entered(m)
        m.grad_enabled = not turns_gradients_on(function)
        if activation is not None:
            m.enter_pass(activation, outer)
        known, refused, begun = len(m.differentiations), len(m.type_faults), m.clock
        undo: list[Restore] = []
        if self._reach is not None:
            undo += widen(m, m.entered, function.name, self._reach)
            undo += presume_unset(m, m.entered, function.name, self._reach)
        try:
            result = self._result(site, known, refused)
            if function.is_generator:
                m.collect(result, site)
        except Raised:
            m.break_off(refused, begun)
            return False
        finally:
            for restore in undo:
                restore()
        is_bare = activation is not None and len(m.differentiations) == known
        if is_bare and is_for_trainers(function, m.entered, trees_of(m)):
            differentiate_returned(m, function, result)
        if result is None or result is not m.entered:  # whoever calls a method has its object
            m.escape([result], site, "return")
        return bool(m.nodes) or any(True for _ in graph_in(result))

    def _result(self, site: Site, known: int, refused: int) -> Value:
        """What the function returns, once it is given enough. Raises Raised if nothing is."""
        m, asked = self._machine, False
        while True:
            try:
                result = m.call_function(self._function, list(self._args), self._given, site)
            except Raised:
                if len(m.differentiations) > known or next(self._more, None) is None:
                    raise
                asked = True
                del m.type_faults[refused:]
            else:
                if asked:
                    self._more = iter(())
                return result

    def _gives_more(self) -> Iterator[bool]:
        """Give more, and do more before, each time that it is asked for."""
        from autodetach.machine.counters import widen
        from autodetach.machine.filled_later import fill
        from autodetach.machine.given_by_callers import not_none
        from autodetach.machine.set_up import set_up

        m, function, reach = self._machine, self._function, self._reach
        more = not_none(m, function)
        made: list[str] = []
        if reach is not None:
            made = set_up(m, m.entered, [function.name], reach, empty=True)
            self._filled += fill(m, m.entered, function.name, reach)
        self._given |= more
        if more or self._filled or made:
            yield True
        other = None if self._others is None else self._others.instead_of(self._args[0], function)
        if other is not None and reach is not None:
            self._args[0] = m.entered = other
            self._filled += widen(m, other, function.name, reach)
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
    from autodetach.machine.given_by_callers import defaults_of

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
