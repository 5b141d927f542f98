"""What callers out of view give: what the least is, and what more there is to give."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine.interpreter import Machine
from autodetach.machine.keywords import FURTHER, OUT_OF_VIEW, of_a_caller
from autodetach.machine.program_values import Function
from autodetach.machine.values import Value


def given_by_name(machine: Machine, function: Value) -> dict[str, Value]:
    """What a caller gives besides the parameters that have names, where a function takes it: nobody knows what."""
    if not isinstance(function, Function):
        return {}
    spec = function.node.args
    named: dict[str, Value] = {} if spec.kwarg is None else {OUT_OF_VIEW: of_a_caller(machine, spec.kwarg.arg)}
    return named if spec.vararg is None else {FURTHER: machine.opaque(spec.vararg.arg), **named}


def defaults_of(function: Function) -> Iterator[tuple[str, Value]]:
    """The parameters that have a default, and what it is."""
    spec = function.node.args
    by_position = zip([*spec.posonlyargs, *spec.args][::-1], function.defaults[::-1], strict=False)
    by_name = zip(spec.kwonlyargs, function.kwdefaults, strict=False)
    return ((a.arg, value) for a, value in (*by_position, *by_name))


def not_none(machine: Machine, function: Function) -> dict[str, Value]:
    """Something for each parameter that is None by default: `if epochs is None: raise` asks the caller to give it."""
    return {name: machine.opaque(name) for name, value in defaults_of(function) if value is None}
