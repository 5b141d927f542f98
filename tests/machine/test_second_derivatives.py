"""What is said to bend a gradient does so: measured for every operation and module of the tables."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from measured_modules import MODULE_CALLS, run_module
from measured_operations import floating, rows, run, subsets, tensors_in
from torch import Tensor

from autodetach.machine.second_derivatives import BY_FIRST, CURVED, STRAIGHT, bends
from autodetach.machine.torch_semantics import MODULES, OPS, lookup, unpacked

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def has_history(value: object, of: Sequence[Tensor]) -> list[bool | None]:
    """Of the gradient for each of some tensors; None where there is none, or no derivative of it."""
    results = [t for t in tensors_in(value) if t.requires_grad]
    results = [torch.view_as_real(t.resolve_conj()) if t.is_complex() else t for t in results]
    try:
        total = torch.stack([t.sum().double() for t in results]).sum()
        gradients = torch.autograd.grad(total, of, create_graph=True, allow_unused=True)
    except (RuntimeError, IndexError):
        return [None for _ in of]
    return [None if g is None else g.requires_grad for g in gradients]


@pytest.mark.parametrize("name", sorted(n for n, op in OPS.items() if op.differentiable))
def test_operations(name: str) -> None:
    for call, sample in rows(name):
        try:
            operands, _ = run(call, sample)
        except (AssertionError, RuntimeError):
            continue  # there is no such device
        able = floating(operands)
        for required in subsets(able):
            operands, value = run(call, sample, required)
            claim = unpacked(
                lookup(name),
                [i in required for i in range(len(operands))],
                [i not in able for i in range(len(operands))],
            )
            if not claim.result and not claim.operands and name not in CURVED:
                continue
            for at, fact in zip(required, has_history(value, [operands[i] for i in required]), strict=True):
                if fact is not None:
                    assert fact or not bends(name, claim.operands, claim.operands.intersection(required), at), required


@pytest.mark.parametrize("name", sorted(MODULE_CALLS))
def test_modules(name: str) -> None:
    row = MODULES[name]
    able = floating(run_module(name)[1])
    for required in [(), *subsets(able)]:
        instance, operands, value = run_module(name, required)
        weights = [p for p in instance.parameters() if p.requires_grad][:1]
        count = len(operands)
        flags = [i in required for i in range(count)] + [True] * len(weights)
        if not any(flags):
            continue
        claim = unpacked(row.op, flags, [i not in able for i in range(count)] + [False] * len(weights))
        places = [*required, count][: len(required) + len(weights)]
        facts = has_history(value, [*(operands[i] for i in required), *weights])
        for at, fact in zip(places, facts, strict=True):
            if fact is not None:
                assert fact or not bends(name, claim.operands, claim.operands.intersection(places), at), required


def test_names_are_those_of_the_tables() -> None:
    known = OPS.keys() | MODULES.keys()
    for name in STRAIGHT | CURVED | BY_FIRST:
        forms = {name, name.rstrip("_"), f"linalg.{name}", f"fft.{name}", f"special.{name}"}
        assert not known.isdisjoint(forms), name
