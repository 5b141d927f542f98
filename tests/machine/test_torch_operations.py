"""Every row of the table of operations, measured again on the installed PyTorch."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from measured_operations import (
    HISTORY,
    INPLACE,
    REJECT_HISTORY,
    TESTED,
    arguments,
    backward,
    check_saved,
    expected,
    floating,
    forms,
    measure,
    rows,
    run,
    sample_of,
    tensors_in,
)
from operation_samples import M, Recipe, Sample
from torch import Tensor

from autodetach.machine import torch_semantics as table
from autodetach.machine.torch_semantics import Op, Saved, Shape, lookup, unpacked

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    # Deprecations, prototype notices and hints of PyTorch, none of them about what is measured here.
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.mark.parametrize("name", HISTORY)
def test_history_and_what_is_saved(name: str) -> None:
    for call, sample in rows(name):
        able = floating(run(call, sample)[0])
        assert any(t.requires_grad for t in tensors_in(run(call, sample, able)[1]))
    if name in table.NO_DERIVATIVE:
        for call, sample in rows(name):
            _, value = run(call, sample, floating(run(call, sample)[0]))
            with pytest.raises(RuntimeError, match=r"derivative .* is not implemented"):
                backward(value)
    else:
        check_saved(name, lookup(name))


@pytest.mark.parametrize("name", [n for n in TESTED if not lookup(n).differentiable])
def test_no_history(name: str) -> None:
    for call, sample in rows(name):
        operands, _ = run(call, sample)
        _, value = run(call, sample, floating(operands))
        assert not any(t.requires_grad for t in tensors_in(value))


@pytest.mark.parametrize("name", sorted(set(INPLACE) - REJECT_HISTORY))
def test_inplace_forms(name: str) -> None:
    op = lookup(name)
    assert op.view
    assert op.inplace is (name not in table.INPLACE_EXCEPTIONS)
    for call, sample in rows(name):
        able = floating(run(call, sample)[0])
        operands, args, kwargs = arguments(sample, able[:1])
        shape, version, content = operands[0].shape, operands[0]._version, operands[0].detach().clone()
        value = call(*args, **kwargs)
        assert value is operands[0]
        assert not able or value.requires_grad is op.differentiable
        assert op.shape is Shape.UNKNOWN or value.shape == shape
        if op.inplace:
            assert value._version > version
        else:
            assert set(value.flatten().tolist()) <= set(content.flatten().tolist())
    if name in table.NO_DERIVATIVE or name.rstrip("_") in table.NO_DERIVATIVE:
        for call, sample in rows(name):
            with pytest.raises(RuntimeError, match=r"derivative .* is not implemented"):
                backward(run(call, sample, (0,))[1])
    elif op.differentiable:
        check_saved(name, op)


@pytest.mark.parametrize(
    "name", [n for n in HISTORY if hasattr(F, n) and "inplace" in getattr(getattr(F, n), "__annotations__", ())]
)
def test_inplace_by_keyword_is_the_form_with_an_underscore(name: str) -> None:
    call = functools.partial(getattr(F, name), inplace=True)
    sample = sample_of("F", name)
    operands, value = run(call, sample, (0,))
    assert value is operands[0]
    assert measure(call, sample, (0,)) == expected(lookup(f"{name}_"), operands, (0,))


@pytest.mark.parametrize("name", TESTED)
def test_every_row_can_be_called_and_what_it_returns(name: str) -> None:
    outputs = lookup(name).outputs
    assert forms(name)
    for call, sample in rows(name):
        operands, value = run(call, sample, floating(run(call, sample)[0]))
        assert operands
        if outputs in (1, "indices", "reduce2", "each") and isinstance(value, Tensor):
            continue
        assert isinstance(value, tuple)
        history = [t.requires_grad for t in value]
        if outputs == "pair":
            assert history == [True, False]
        elif isinstance(outputs, int):
            assert len(value) == outputs
            assert any(history) is lookup(name).differentiable
        elif outputs == "each":
            for position in range(len(operands)):
                _, value = run(call, sample, (position,))
                assert [t.requires_grad for t in value] == [i == position for i in range(len(operands))]
        else:
            assert outputs == "many"
            assert all(history)


@pytest.mark.parametrize("name", [n for n in TESTED if lookup(n).outputs == "reduce2"])
def test_pairs_that_a_dim_asks_for(name: str) -> None:
    for call, _ in rows(name):
        for sample in (Sample((M, 1), {}), Sample((M,), {"dim": 1})):
            operands, value = run(call, sample, (0,))
            assert [t.requires_grad for t in value] == [True, False]
            assert measure(call, sample, (0,)) == expected(lookup(name), operands, (0,), indexed=True)


@pytest.mark.parametrize("name", [n for n in TESTED if lookup(n).outputs == "indices"])
def test_pairs_that_return_indices_asks_for(name: str) -> None:
    sample = sample_of("F", name)
    _, value = run(getattr(F, name), Sample(sample.args, {"return_indices": True}), (0,))
    assert [t.requires_grad for t in value] == [True, False]


@pytest.mark.parametrize("name", TESTED)
def test_views(name: str) -> None:
    shared = []
    for call, sample in rows(name):
        operands, value = run(call, sample)
        if operands[0].layout != torch.strided:
            continue
        memory = operands[0].untyped_storage().data_ptr()
        results = [t for t in tensors_in(value) if t.layout == torch.strided]
        shared.append(any(t.untyped_storage().data_ptr() == memory for t in results))
    assert any(shared) is lookup(name).view


@pytest.mark.parametrize("name", [n for n in TESTED if lookup(n).shape is not Shape.UNKNOWN])
def test_shapes(name: str) -> None:
    shape = lookup(name).shape
    for call, sample in rows(name):
        if shape is Shape.LOSS and call is not getattr(F, name):
            continue  # torch.NAME is the inside of F.NAME and takes the reduction as a number
        operands, value = run(call, sample)
        result = tensors_in(value)[0].shape
        first = next(t for t in operands if t.dim() > 0)
        if shape is Shape.SAME:
            assert result == first.shape
        elif shape is Shape.BROADCAST:
            assert result == np.broadcast_shapes(*(t.shape for t in operands))
        else:
            assert result == ()
            assert first.dim() > 0


def first_row(recipe: Recipe) -> Recipe:
    return Recipe(lambda: recipe.make()[:1])


@pytest.mark.parametrize("name", [n for n in TESTED if lookup(n).shape is Shape.BROADCAST])
def test_a_smaller_first_operand_is_broadcast(name: str) -> None:
    for call, sample in rows(name):
        operands, _ = run(call, sample)
        if len(operands) < 2 or operands[0].dim() != operands[1].dim():
            continue
        operands, value = run(call, Sample((first_row(sample.args[0]), *sample.args[1:]), sample.kwargs))
        assert operands[0].shape[0] == 1
        assert value.shape == operands[1].shape


@pytest.mark.parametrize("name", [n for n in TESTED if lookup(n).shape is Shape.REDUCE])
def test_reductions_with_a_dim(name: str) -> None:
    for call, _ in rows(name):
        by_name = run(call, Sample((M,), {"dim": (0, 1) if name == "nuclear_norm" else 0}))[1]
        assert tensors_in(by_name)[0].dim() == (0 if name == "nuclear_norm" else 1)
        if name in ("aminmax", "hash_tensor", "nuclear_norm"):
            continue  # dim by keyword only, or two of them
        filler = (2,) * (lookup(name).dim_at - 1)
        assert tensors_in(run(call, Sample((M, *filler, 0), {}))[1])[0].dim() == 1


@pytest.mark.parametrize("name", ["sum", "mean", "norm", "std", "argmax"])
def test_a_dim_of_none_reduces_everything(name: str) -> None:
    assert all(run(call, Sample((M,), {"dim": None}))[1].dim() == 0 for call, _ in rows(name))


@pytest.mark.parametrize("name", [n for n in TESTED if lookup(n).shape is Shape.LOSS])
def test_losses_without_reduction(name: str) -> None:
    sample = sample_of("F", name)
    _, value = run(getattr(F, name), Sample(sample.args, {"reduction": "none"}))
    assert value.dim() > 0


@pytest.mark.parametrize(
    ("text", "name", "before"),
    [
        ("x * 2", "mul", 0),
        ("2 * x", "mul", 0),
        ("x / 2", "div", 0),
        ("2 / x", "__rtruediv__", 1),
        ("x ** 2", "pow", 0),
        ("x ** 1", "pow", 0),
        ("2 ** x", "pow", 1),
        ("torch.pow(2, x)", "pow", 1),
        ("x + 2", "add", 0),
        ("x - 2", "sub", 0),
        ("2 - x", "sub", 1),
        ("x % 2", "remainder", 0),
        ("-x", "neg", 0),
        ("x.lerp(x.detach().clone(), 0.5)", "lerp", 0),
        ("torch.maximum(x, torch.tensor(0.0))", "maximum", 0),
        ("x.clamp(min=0)", "clamp", 0),
        ("torch.where(x > 0, x, 0.0)", "where", 0),
        ("x[0]", "__getitem__", 0),
        ("x[0:2, None, ...]", "__getitem__", 0),
        ("x[[0, 1]]", "index", 0),
    ],
)
def test_numbers_as_operands(text: str, name: str, before: int) -> None:
    call = eval(f"lambda x: {text}", {"torch": torch})
    sample = Sample((M,), {})
    fact = measure(call, sample, (0,))
    flags = [False] * before + [True]
    claim = unpacked(lookup(name), flags, [False] * len(flags), only_first=before == 0)
    assert fact.raises is claim.raises
    assert (0 in fact.operands) is (before in claim.operands)
    assert fact.result is claim.result


@pytest.mark.parametrize("operands", [[True], [True, False], [False, True], [True, True], [True, True, True]])
@pytest.mark.parametrize("saved", list(Saved))
def test_unpacked_names_only_operands_that_exist(saved: Saved, operands: list[bool]) -> None:
    claim = unpacked(Op(saved), operands)
    assert claim.operands <= set(range(len(operands)))
    assert claim.raises or not (claim.operands or claim.result)
