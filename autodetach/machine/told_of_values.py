"""What can be told of an abstract value: what kind it is, what it is equal to."""

from __future__ import annotations

from collections.abc import Hashable

from autodetach.machine.marks import SUMMED
from autodetach.machine.program_values import External, Instance
from autodetach.machine.values import CONSTANT_TYPES, MAX_NESTING, NUMBER_TYPES, Opaque, Sequence, Sym, Tensor, Value

GIVEN = "#given"
"""Marks what a module that is not in view has given, be it a tensor or a record of several: nothing has told yet."""
RECORD = "record"
"""What is said by that mark once a part was asked for by its name."""
TRUTH = "truth"
"""The kind of a symbol that is True or False for certain: what a comparison of numbers gives."""
MEMBER = "#member"
"""Marks a member of an enumeration, by the names of its class and its own: it is equal to no other."""


def is_constant(value: Value) -> bool:
    return type(value) in CONSTANT_TYPES


def is_member(value: Value) -> bool:
    """Whether a value is a member of an enumeration of the file that is neither a text nor a number."""
    return type(value) is Instance and MEMBER in value.attrs


def is_truth(value: Value) -> bool:
    """What a comparison of numbers gives: True or False, nobody knows which."""
    return type(value) is Sym and value.kind == TRUTH


def is_number(value: Value) -> bool:
    """A Python number for certain (bool included)."""
    kind = type(value)
    return kind in NUMBER_TYPES or (kind is Sym and value.kind == "number")


def may_be_no_tensor(value: Value) -> bool:
    """Whether nothing tells that something unknown is a tensor."""
    if isinstance(value, Opaque):
        attrs = value.attrs
        return (value.node is None or value.node.weak or GIVEN in attrs or SUMMED in attrs) and not value.scalar
    if isinstance(value, External):  # `math.tau`, `sys.maxsize`
        return not value.path.startswith("torch")
    return isinstance(value, Sym) and not value.kind


def truth_key(value: Sym | Opaque) -> Hashable:
    """What the oracle calls the truth of a value."""
    return value.key if isinstance(value, Sym) else ("truth", value.number)


def key_of(value: Value) -> Hashable:
    """A hashable form of a value: equal for equal constants, identity otherwise."""
    kind = type(value)
    if kind is Sym:
        # A key that has its operands' keys in it, in each twice (`x + k * (m - x)`), doubles with every pass of a loop.
        return ("s", value.key if value.nesting < MAX_NESTING else value)
    if kind is Opaque:
        return ("o", value.number)
    if kind in CONSTANT_TYPES:
        if isinstance(value, (bool, int, float)):
            return ("c", value)
        return ("c", kind.__name__, value)
    if isinstance(value, Sequence) and value.kind == "tuple":
        return ("t", tuple(key_of(v) for v in value.items))
    if isinstance(value, External):
        return ("x", value.path)
    if kind is Instance and MEMBER in value.attrs:
        return ("c", "member", value.attrs[MEMBER])
    return ("i", id(value))


def is_scalar(value: Value) -> bool:
    """Proven to be a 0-dim tensor (or a tensor of one element, where `backward()` was called on it)."""
    if isinstance(value, Tensor):
        return value.shape == ()
    return isinstance(value, Opaque) and value.scalar
