"""Where PyTorch takes a Python number as it takes a tensor without dimensions, and makes the same of both.

Anywhere else it raises, or makes something else: `torch.zeros_like(total)`, `average.lerp_(loss, 0.1)`.
"""

from __future__ import annotations

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.number_readers import wanted
from autodetach.machine.program_values import Iterable
from autodetach.machine.steering import computed_with, is_trained
from autodetach.machine.told_of_values import is_truth
from autodetach.machine.values import Mapping, Opaque, Sequence, Sym, Tensor, Value

CARRYING = (Sym, Sequence, Mapping, Iterable)
"""What may be such a number, or hold some."""
Places = frozenset[int | str]
OPERATORS: frozenset[str] = frozenset(
    """
    add copysign div divide eq float_power floor_divide fmod ge greater greater_equal gt le less less_equal lt mul
    multiply ne not_equal pow remainder rsub sub subtract true_divide xlogy
    """.split()
)
"""Functions of two operands, of which one at least is a tensor; as methods, they change the first one by a number."""
OF_OPERATORS: Places = frozenset({0, 1, "alpha", "exponent", "other"})
BOUNDS = frozenset({"clamp", "clip"})
"""They take two numbers or two tensors."""
TAKEN: dict[str, Places] = {
    **dict.fromkeys(OPERATORS, OF_OPERATORS),
    **dict.fromkeys(BOUNDS, frozenset({1, 2, "min", "max"})),
    **dict.fromkeys(("tensor", "as_tensor", "asarray", "scalar_tensor"), frozenset({0, "data"})),
    **dict.fromkeys(("linspace", "logspace", "arange", "range"), frozenset({0, 1, "start", "end"})),
    "clamp_max": frozenset({1, "max"}), "clamp_min": frozenset({1, "min"}), "copy": frozenset({1}),
    "fill": frozenset({1, "value"}), "full": frozenset({1, "fill_value"}), "full_like": frozenset({1, "fill_value"}),
    "lerp": frozenset({2, "weight"}), "masked_fill": frozenset({2, "value"}), "new_full": frozenset({2, "fill_value"}),
    "new_tensor": frozenset({1}), "where": frozenset({1, 2, "input", "other"}),
}  # fmt: skip
"""By the name of a function or method, the places of such arguments: the tensor of a method stands at the first one."""
NOWHERE: Places = frozenset()
MAKERS = frozenset({"as_tensor", "asarray", "tensor"})
"""What they make of a tensor is where that is, and of a number on the CPU, unless they are told a device."""


def handed(m: Core, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> None:
    """A function or method of PyTorch is called: where it is given a number, a tensor may have been meant."""
    given: list[tuple[int | str, Value]] = [*enumerate(args), *kwargs.items()]
    carrying = [(place, value) for place, value in given if isinstance(value, CARRYING)]
    if not carrying:
        return
    if name.endswith("_") or any(is_trained(value) for _, value in given):
        computed_with(m, [value for _, value in carrying], site)
    base = name.rstrip("_")
    places = TAKEN.get(base, NOWHERE)
    if base in OPERATORS and not any(isinstance(value, (Tensor, Opaque)) for _, value in given):
        places = NOWHERE
    if base in MAKERS and isinstance(given[0][1], Sym) and "device" not in kwargs:
        places = NOWHERE
    if base in BOUNDS and any(isinstance(value, Tensor) for place, value in given if place in places):
        places = NOWHERE
    wanted(m, [value for place, value in carrying if not _is_taken(base, place, value, places)], site, name)


def _is_taken(name: str, place: int | str, value: Value, places: Places) -> bool:
    if name.endswith("Tensor"):
        return isinstance(value, Sequence)
    return place in places and not (name == "where" and is_truth(value))
