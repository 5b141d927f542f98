"""What the program gave the constructor of a class when it last made an object: others give it the like.

`main()` makes `Trainer(Agent(), epochs=3)` and calls `play` alone; who calls `train`, which nobody in view does, has
made one in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable

from autodetach.machine.closures import closed_over
from autodetach.machine.program_values import Class, Function, Instance, Method
from autodetach.machine.program_values import Iterable as Iterable_
from autodetach.machine.state import Given, State
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value

MAX_VALUES = 500
"""So many values are looked at: of what holds more, nobody knows in what state the program has left it."""


def note(m: State, cls: Class, init: Value, args: list[Value], kwargs: dict[str, Value]) -> None:
    """The program, if it still runs, makes an object of a class that has a constructor of its own."""
    if m.in_program and isinstance(init, Function) and (args or kwargs):
        m.given_to[cls] = Given(list(args), dict(kwargs))


def keep(m: State, classes: Iterable[Class]) -> None:
    """The program is over: what may be given once more is kept for these classes."""
    m.in_program = False
    m.given_to = {cls: m.given_to[cls] for cls in classes if cls in m.given_to and _are_as_new(m.given_to[cls].values)}


def _are_as_new(values: list[Value]) -> bool:
    """Whether nothing is left in them of a graph that the program has made, nor is used up."""
    pending = list(values)
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if len(seen) > MAX_VALUES or _has_a_past(value):
            return False
        if isinstance(value, Opaque):
            pending += value.attrs.values()
        elif isinstance(value, Sequence):
            pending += value.items
        elif isinstance(value, Mapping):
            pending += (held for _, held in value.items.values())
        elif isinstance(value, Instance):
            pending += value.attrs.values()
        elif isinstance(value, Method):
            pending += (value.this, value.function)
        elif isinstance(value, Function):
            pending += (kept.value for kept in closed_over(value))
    return True


def _has_a_past(value: Value) -> bool:
    if isinstance(value, Tensor) and (value.lost or value.from_grad):
        return True
    if isinstance(value, (Tensor, Opaque)):
        return value.node is not None and not (value.node.leaf or value.node.weak)
    return isinstance(value, Iterable_) and value.once
