"""Every row of the table of modules, measured again on the installed PyTorch."""

from __future__ import annotations

import pytest
import torch
from measured_modules import BASES, INEXACT_MODULES, MODULE_CALLS, measure_module, run_module
from measured_operations import (
    Measured,
    arguments,
    floating,
    subsets,
    tensors_in,
)
from operation_samples import (
    Sample,
)
from torch import Tensor, nn

from autodetach.machine import torch_semantics as table
from autodetach.machine.torch_semantics import MODULES, Shape, unpacked

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    # Deprecations, prototype notices and hints of PyTorch, none of them about what is measured here.
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def test_no_module_is_missing() -> None:
    public = {n for n in dir(nn) if isinstance(getattr(nn, n), type) and issubclass(getattr(nn, n), nn.Module)}
    assert public == MODULES.keys()
    assert public == MODULE_CALLS.keys() | BASES


@pytest.mark.parametrize("name", sorted(MODULE_CALLS))
def test_modules(name: str) -> None:
    row = MODULES[name]
    instance, operands, value = run_module(name)
    assert any(p.requires_grad for p in instance.parameters()) is row.params
    able = floating(operands)
    exact = True
    for required in [(), *subsets(able)]:
        _, _, value = run_module(name, required)
        if not required and not row.params:
            assert not any(t.requires_grad for t in tensors_in(value))
            continue
        fact = measure_module(name, required)
        flags = [i in required for i in range(len(operands))] + [True] * row.params
        discrete = [i not in able for i in range(len(operands))] + [False] * row.params
        claim = unpacked(row.op, flags, discrete)
        same = fact == Measured(claim.raises, claim.operands, claim.result)
        assert same or name in INEXACT_MODULES, (required, fact, claim)
        assert fact.raises is claim.raises
        exact = exact and same
    assert exact is (name not in INEXACT_MODULES)


@pytest.mark.parametrize("name", sorted(MODULE_CALLS))
def test_results_of_modules(name: str) -> None:
    row = MODULES[name]
    _, operands, value = run_module(name)
    results = tensors_in(value)
    if row.result in ("tensor", "loss", "cell"):
        assert isinstance(value, Tensor)
    elif row.result in ("lstm", "lstmcell"):
        assert [isinstance(part, Tensor) for part in value] == [True, row.result == "lstmcell"]
        assert len(results) == (3 if row.result == "lstm" else 2)
    else:
        assert row.result in ("rnn", "attention", "output_loss")
        assert [isinstance(part, Tensor) for part in value] == [True, True]
    if row.result == "output_loss":
        assert value.loss.dim() == 0
    if row.shape is Shape.SAME:
        assert results[0].shape == operands[0].shape
    elif row.shape is Shape.LOSS:
        assert results[0].dim() == 0
        built, inputs = MODULE_CALLS[name]
        unreduced = getattr(nn, name)(*built, reduction="none")
        assert unreduced(*arguments(Sample(inputs, {}))[1]).dim() > 0
    else:
        assert row.shape is Shape.UNKNOWN


@pytest.mark.parametrize("name", sorted(MODULE_CALLS))
def test_random_modules(name: str) -> None:
    instance, operands, _ = run_module(name)
    before = torch.get_rng_state()
    instance(*operands)
    assert torch.equal(before, torch.get_rng_state()) is not MODULES[name].random
    assert (name in table.RANDOM) is MODULES[name].random
