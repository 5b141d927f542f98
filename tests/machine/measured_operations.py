"""What an operation of PyTorch does, measured: which operands give it history, what it saves, what it shares."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from operation_samples import (
    INEXACT,
    NAMESPACES,
    NEEDS_DEVICE,
    ONLY_SECOND_OPERAND,
    OTHER_FORMS,
    OWN_CALLS,
    PREFIXES,
    SAMPLES,
    UNARY,
    Recipe,
    Sample,
)
from torch import Tensor

from autodetach.machine.torch_semantics import OPS, Op, Unpacked, lookup, unpacked


@dataclass(frozen=True)
class Measured:
    """What running an operation showed."""

    raises: bool
    operands: frozenset[int]
    result: bool


def forms(name: str) -> dict[str, Callable[..., Any]]:
    """The callables that a row speaks of, by where they live."""
    if name in OWN_CALLS:
        return {name: OWN_CALLS[name]}
    prefix, dot, bare = name.rpartition(".")
    if dot:
        return {prefix: getattr(PREFIXES[prefix], bare)}
    found: dict[str, Callable[..., Any]] = {}
    for space, module in NAMESPACES.items():
        member = getattr(module, name, None)
        if f"{space}.{name}" in OTHER_FORMS:
            continue
        if callable(member):
            found[space] = member
        elif space == "Tensor" and member is not None:
            found[space] = operator.attrgetter(name)
    return found


def sample_of(space: str, name: str) -> Sample:
    base = name.rstrip("_") if not name.startswith("_") else name
    for key in (f"{space}.{name}", name, f"{space}.{base}", base):
        if key in SAMPLES:
            return SAMPLES[key]
    return UNARY


def tensors_in(value: object) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in tensors_in(item)]
    return []


def arguments(sample: Sample, required: Sequence[int] = ()) -> tuple[list[Tensor], list[Any], dict[str, Any]]:
    """The tensor operands of a call and its arguments; the `required` operands require grad but are no leaves."""
    torch.manual_seed(0)
    operands: list[Tensor] = []

    def fill(value: object) -> object:
        if isinstance(value, Recipe):
            tensor = value.make()
            if len(operands) in required:
                tensor = tensor.requires_grad_().clone()
            operands.append(tensor)
            return tensor
        if isinstance(value, (list, tuple)):
            return type(value)(fill(item) for item in value)
        return value

    args = [fill(value) for value in sample.args]
    return operands, args, {key: fill(value) for key, value in sample.kwargs.items()}


def run(call: Callable[..., Any], sample: Sample, required: Sequence[int] = ()) -> tuple[list[Tensor], Any]:
    """The operands and the value of a call."""
    operands, args, kwargs = arguments(sample, required)
    value = call(*args, **kwargs)
    return operands, operands[0] if call is Tensor.__setitem__ else value


def backward(value: object) -> None:
    results = [t for t in tensors_in(value) if t.requires_grad]
    # The gradient of a COO tensor must be one.
    results = [t.to_dense() if t.layout == torch.sparse_coo else t for t in results]
    torch.autograd.backward(results, [torch.ones_like(t) for t in results])


def second_backward_raises(value: object) -> bool:
    backward(value)
    try:
        backward(value)
    except RuntimeError as error:
        if "through the graph a second time" not in str(error):
            raise
        return True
    return False


def change_is_noticed(tensor: Tensor, value: object) -> bool:
    """Whether backward from `value` minds that `tensor` was written to (with what it held already)."""
    with torch.no_grad():
        try:
            tensor.copy_(tensor.clone())
        except RuntimeError as error:
            if "single memory location" not in str(error):
                raise
            return False  # an expanded tensor cannot be written to
    try:
        backward(value)
    except RuntimeError as error:
        if "modified by an inplace operation" in str(error):
            return True
        if "is a view" not in str(error):  # of several views of one call none may be written to, saved or not
            raise
    return False


def measure(call: Callable[..., Any], sample: Sample, required: Sequence[int]) -> Measured:
    operands, value = run(call, sample, required)
    raises = second_backward_raises(value)
    noticed = set()
    for position in range(len(operands)):
        operands, value = run(call, sample, required)
        if change_is_noticed(operands[position], value):
            noticed.add(position)
    _, value = run(call, sample, required)
    return Measured(raises, frozenset(noticed), change_is_noticed(tensors_in(value)[0], value))


def floating(operands: Sequence[Tensor]) -> list[int]:
    return [i for i, t in enumerate(operands) if t.is_floating_point() or t.is_complex()]


def subsets(positions: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every choice of operands that require grad; for many operands single ones and all."""
    for size in range(1, len(positions) + 1):
        if len(positions) <= 4 or size in (1, len(positions)):
            yield from itertools.combinations(positions, size)


def expected(op: Op, operands: Sequence[Tensor], required: Sequence[int], **kwargs: bool) -> Measured:
    able = floating(operands)
    flags = [i in required for i in range(len(operands))]
    claim: Unpacked = unpacked(op, flags, [i not in able for i in range(len(operands))], **kwargs)
    noticed = claim.operands | {0} if op.inplace and claim.result else claim.operands
    return Measured(claim.raises, frozenset(noticed), claim.result)


def rows(name: str) -> Iterator[tuple[Callable[..., Any], Sample]]:
    for space, call in forms(name).items():
        yield call, sample_of(space, name)


def check_saved(name: str, op: Op) -> None:
    """Compare every form of a row with what PyTorch does; rows of INEXACT must differ somewhere, or leave that list."""
    inexact = name in INEXACT or name.rstrip("_") in INEXACT
    differs = False
    for call, sample in rows(name):
        operands, _ = run(call, sample)
        able = floating(operands)
        for required in subsets(able):
            _, value = run(call, sample, required)
            if not any(t.requires_grad for t in tensors_in(value)):
                continue  # the other operand of type_as, view_as, ...
            if 0 in required and name.rstrip("_") in ONLY_SECOND_OPERAND:
                with pytest.raises(RuntimeError, match=r"derivative .* is not implemented"):
                    backward(value)
                continue
            claim, fact = expected(op, operands, required), measure(call, sample, required)
            differs = differs or fact != claim
            assert inexact or fact == claim, (name, call, required)
            if required in ((able[0],), tuple(able)):
                assert fact.raises == claim.raises
            if required == tuple(able) and name.rstrip("_") != "index_add":
                assert fact.operands <= claim.operands
                assert fact.result <= claim.result
    assert differs or name not in INEXACT


TESTED = sorted(
    {
        *(n for n in OPS if n.startswith("__") or not n.endswith("_")),
        # Names with a prefix that follow from the bare name.
        *(f"{p}.{n}" for p, space in PREFIXES.items() for n in dir(space) if n in OPS and callable(getattr(space, n))),
    }
    - NEEDS_DEVICE
)
HISTORY = [n for n in TESTED if lookup(n).differentiable]
INPLACE = sorted(
    {
        name
        for module in NAMESPACES.values()
        for name in dir(module)
        if name.endswith("_") and not name.startswith("_") and callable(getattr(module, name))
    }
)
REJECT_HISTORY = {
    *("apply_", "map_", "map2_", "resize_", "resize_as_", "resize_as_sparse_", "set_"),
    *("sparse_resize_", "sparse_resize_and_clear_"),
}
"""Methods that refuse tensors that require grad, or whose backward does."""
