"""Callables that code out of view is given, which it may call at any time: callbacks, timers, handlers of signals."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine.classes import code_of
from autodetach.machine.held import graph_in
from autodetach.machine.program_values import Function, Method, Native
from autodetach.machine.restraints import CallableGiven
from autodetach.machine.values import Opaque, Tensor, Value

CALLABLE = frozenset({Function, Method, Native, Opaque})
BACKWARD = "backward"


def given(callables: list[Value], values: list[Value]) -> Iterator[CallableGiven]:
    """What code out of view may call from now on, of some values that it is given."""
    bound = [this for value in callables if (this := _differentiated_by(value)) is not None]
    functions = [function for value in callables if (function := code_of(value)) is not None]
    if bound or functions:
        nodes = (t.node for value in (*bound, *values) for t in graph_in(value) if t.node is not None)
        codes = tuple(dict.fromkeys(function.node for function in functions))
        yield CallableGiven(tuple(dict.fromkeys(nodes)), codes, any(type(value) is Native for value in callables))


def _differentiated_by(value: Value) -> Tensor | Opaque | None:
    """The tensor of a bound `loss.backward`."""
    if type(value) is Native:
        return value.this if value.name == BACKWARD and isinstance(value.this, (Tensor, Opaque)) else None
    return value.owner if type(value) is Opaque and value.name == BACKWARD else None
