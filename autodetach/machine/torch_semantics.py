"""What each PyTorch operation does to the autograd graph, as data.

Every row was measured on PyTorch 2.13 (CPU); the tests repeat the measurement row by row. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from autodetach.machine.torch_facts import DEFAULT, Module, Op, Saved, Shape, Unpacked, unpacked
from autodetach.machine.torch_modules import MODULE_INPLACE_AT, MODULES
from autodetach.machine.torch_names import (
    ACCEPTS_NUMBERS,
    ALIKE_INITS,
    ALIKE_WEIGHTS,
    DETACHING,
    EFFECTS,
    FACTORIES,
    LIKE_ANOTHER,
    NUMBER_METHODS,
    RANDOM,
    TAKES_REQUIRES_GRAD,
    TAKES_TWO_TENSORS,
    TENSOR_ATTRIBUTES,
)
from autodetach.machine.torch_operations import INPLACE_AT, INPLACE_EXCEPTIONS, NO_DERIVATIVE, OPS, VARIANTS, VIEWS

__all__ = [
    "ACCEPTS_NUMBERS",
    "ALIKE_INITS",
    "ALIKE_WEIGHTS",
    "DEFAULT",
    "DETACHING",
    "EFFECTS",
    "FACTORIES",
    "INPLACE_AT",
    "INPLACE_EXCEPTIONS",
    "LIKE_ANOTHER",
    "MODULES",
    "MODULE_INPLACE_AT",
    "NO_DERIVATIVE",
    "NUMBER_METHODS",
    "OPERATORS",
    "OPS",
    "RANDOM",
    "TAKES_REQUIRES_GRAD",
    "TAKES_TWO_TENSORS",
    "TENSOR_ATTRIBUTES",
    "VARIANTS",
    "VIEWS",
    "Module",
    "Op",
    "Saved",
    "Shape",
    "Unpacked",
    "lookup",
    "of_arguments",
    "unpacked",
]


@cache
def lookup(name: str) -> Op:
    """The facts about `name` ("mul", "mul_", "linalg.norm"); the `DEFAULT` for a name that is not known.

    An in-place form follows from its base. It always keeps history (with a gradient of zero where the base has none).
    """
    if name in OPS:
        return OPS[name]
    if "." in name:
        return lookup(name.rpartition(".")[2])
    if name == "detach_":
        return OPS["detach"]
    if name in INPLACE_EXCEPTIONS:
        return Op(Saved.NOTHING, view=True)
    if name.endswith("_") and not name.endswith("__"):
        base = lookup(name.rstrip("_"))
        return base._replace(shape=Shape.SAME, outputs=1, view=True, differentiable=True, inplace=True)
    return DEFAULT


def of_arguments(name: str, positional: tuple[object, ...], named: Mapping[str, object]) -> Op:
    """As `lookup`, for a call of which the values of some arguments are known (the input is at 0)."""
    op = lookup(name)
    for variant in VARIANTS.get(name, ()):
        value = named.get(variant.keyword, positional[variant.at] if len(positional) > variant.at else None)
        if isinstance(value, variant.types) and value in variant.values:
            return op._replace(saved=variant.saved)
    return op


OPERATORS: dict[str, str] = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "Div": "div",
    "FloorDiv": "floor_divide",
    "Mod": "remainder",
    "Pow": "pow",
    "MatMult": "matmul",
    "LShift": "bitwise_left_shift",
    "RShift": "bitwise_right_shift",
    "BitAnd": "bitwise_and",
    "BitOr": "bitwise_or",
    "BitXor": "bitwise_xor",
    "USub": "neg",
    "UAdd": "positive",
    "Invert": "bitwise_not",
    "Eq": "eq",
    "NotEq": "ne",
    "Lt": "lt",
    "LtE": "le",
    "Gt": "gt",
    "GtE": "ge",
}
"""The operation behind an operator, by the name of its class in `ast`; `not`, `is` and `in` give Python values."""
