"""What is known of the element type of a tensor, and which casts give another tensor instead of the same memory.

https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch-dtype
"""

from __future__ import annotations

from autodetach.machine.program_values import External
from autodetach.machine.values import Tensor, Value

DEFAULT = frozenset({"float", "float32", "FloatTensor"})
"""The floating point type that a tensor has unless it is told otherwise; a cast to it gives the tensor itself."""
OTHER_FLOATS = frozenset("double float64 half float16 bfloat16 DoubleTensor HalfTensor BFloat16Tensor".split())
WITHOUT_GRADIENT = frozenset(
    """
    bool byte char short int long uint8 uint16 uint32 uint64 int8 int16 int32 int64
    BoolTensor ByteTensor CharTensor ShortTensor IntTensor LongTensor
    """.split()
)

CASTS = frozenset("long int short byte char bool".split())
"""The methods that are casts to these."""


def is_floating(dtype: Value) -> bool | None:
    """Whether a `dtype`, or the name of an old tensor type, is the floating point type that tensors have by default.

    None where nobody knows, and for other ones of floating point: a cast of these to the default is a copy.
    """
    name = _name(dtype)
    return True if name in DEFAULT else False if name in WITHOUT_GRADIENT else None


TAKING_TYPES = frozenset({"to", "type", "view"})
"""Methods that are told the type; `view` takes the memory for values of it."""


def is_cast_to_integers(name: str, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """Whether a method, as `long()` or `type(torch.LongTensor)`, gives what has no gradient."""
    if name not in TAKING_TYPES:
        return name in CASTS and not (args or kwargs)
    return any(_name(given) in WITHOUT_GRADIENT for given in (*args, *kwargs.values()))


def after_cast(t: Tensor, name: str, args: list[Value], kwargs: dict[str, Value]) -> tuple[bool | None, bool]:
    """Of a method that may cast, `float()` or `to(dtype)`: whether what it gives is floating, and whether a copy."""
    given = [External(f"torch.{name}")] if name not in ("to", "type") else [*args, *kwargs.values()]
    wanted = next((v for v in given if _name(v) in DEFAULT | OTHER_FLOATS | WITHOUT_GRADIENT), None)
    if wanted is None:
        return (None if name == "type" and args else t.is_float), False
    is_default = is_floating(wanted)
    return is_default, not (is_default and t.is_float)


def _name(dtype: Value) -> str:
    path = dtype.path if isinstance(dtype, External) else dtype if isinstance(dtype, str) else ""
    return path.rpartition(".")[2] if path.startswith(("torch.", "builtins.")) else ""
