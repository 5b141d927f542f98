"""Classes that derive from `torch.nn.Parameter`: what they make is a tensor, with methods of its own."""

from __future__ import annotations

from autodetach.machine.classes import library_bases, linear_order
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.program_values import Class, External, Function, Method
from autodetach.machine.state import MISSING
from autodetach.machine.values import Tensor, Value

PARAMETER = External("torch.nn.Parameter")
MAKING = frozenset({"__new__", "__init__"})


def makes_parameter(cls: Value) -> bool:
    """Whether a class derives from `torch.nn.Parameter`."""
    return isinstance(cls, Class) and any(
        path.startswith("torch.nn.") and path.endswith(".Parameter") for path in library_bases(cls)
    )


def parameter_of(
    m: Core, cls: Class, new: Value, init: Value, args: list[Value], kwargs: dict[str, Value], site: Site
) -> Value:
    """What a call of the class makes; `new` and `init` are its `__new__` and `__init__`, MISSING if it has none."""
    if new is MISSING:
        made = m.call(PARAMETER, args, kwargs, site)
    else:
        made = m.call(new, [cls, *args], kwargs, site)
    if not isinstance(made, Tensor):
        return made
    methods: dict[str, Value] = {}
    for one in reversed(linear_order(cls)):
        names = one.names if isinstance(one, Class) else {}
        own = {name: value for name, value in names.items() if isinstance(value, Function) and name not in MAKING}
        methods |= {name: Method(function, made) for name, function in own.items()}
    made.extras = methods | (made.extras or {})
    if isinstance(init, Function):
        m.call(Method(init, made), args, kwargs, site)
    return made
