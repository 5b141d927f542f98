"""`torch._foreach_add_(averages, weights, alpha=0.1)`: one operation on each tensor of a list."""

from __future__ import annotations

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.torch_semantics import TENSOR_ATTRIBUTES
from autodetach.machine.values import Opaque, Sequence, Tensor, Value

PREFIX = "_foreach_"


def call(m: Core, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
    """What the function of this name gives: a tuple of new tensors, or None where it changes those that it is given."""
    base = name[len(PREFIX) :]
    first = args[0] if args else kwargs.get("self")
    if not isinstance(first, Sequence) or base not in TENSOR_ATTRIBUTES:
        m.escape([*args, *kwargs.values()], site, name)
        return m.opaque(name)
    made: list[Value] = []
    for number, item in enumerate(first.items):
        if isinstance(item, (Tensor, Opaque)):
            others = [_nth(value, number) for value in args[1:]]
            named = {key: _nth(value, number) for key, value in kwargs.items() if key != "self"}
            made.append(m.call_method(item, base, others, named, site))
    return (
        None if base.endswith("_") else Sequence("tuple", made, m.clock, first.exact and len(made) == len(first.items))
    )


def _nth(value: Value, number: int) -> Value:
    """What belongs to one of the tensors: an element of a list, or the one number for all."""
    if isinstance(value, Sequence) and value.items:
        return value.items[min(number, len(value.items) - 1)]
    return value
