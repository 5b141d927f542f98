"""What PyTorch makes of a number is what it makes of a tensor without dimensions, where the table says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autodetach.machine.number_places import BOUNDS, TAKEN

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # what is made of a tensor may better be copied

FACTORIES = frozenset("tensor as_tensor asarray scalar_tensor linspace logspace arange range full".split())
TENSORS: list[Callable[[], Any]] = [
    lambda: torch.tensor([0.25, 1.5, 3.0]),
    lambda: torch.tensor(1.25),
    lambda: torch.tensor([1, 2, 3]),
]
OTHERS: dict[str, tuple[object, ...]] = {"lerp": ("tensor",), "masked_fill": ("mask",), "new_full": ((2,),)}
"""What stands between the tensor and the number."""


def made(of: Any) -> tuple[object, ...]:
    return (of.dtype, tuple(of.shape), of.tolist())


def called(name: str, tensor: Any, number: Any) -> list[Any]:
    """Every way in which the table says that a number may stand there."""
    if name == "where":
        return [torch.where(tensor > 1, number, tensor), torch.where(tensor > 1, tensor, number)]
    if name in BOUNDS:
        function = getattr(tensor, name)
        return [function(number), function(max=number), function(number, number)]
    between = [
        torch.ones_like(tensor) if o == "tensor" else tensor > 1 if o == "mask" else o for o in OTHERS.get(name, ())
    ]
    if hasattr(torch, name):
        return [getattr(torch, name)(tensor, *between, number)]
    return [getattr(tensor, name if hasattr(tensor, name) else name + "_")(*between, number)]


@pytest.mark.parametrize("name", sorted(TAKEN.keys() - FACTORIES))
@pytest.mark.parametrize("which", range(len(TENSORS)))
def test_numbers_do_as_tensors_without_dimensions(name: str, which: int) -> None:
    make = TENSORS[which]
    if name in ("lerp", "masked_fill") and not make().is_floating_point():
        return
    scalar = torch.tensor(0.5)
    ways = list(map(made, called(name, make(), scalar)))
    assert ways == list(map(made, called(name, make(), 0.5)))


@pytest.mark.parametrize("name", sorted(FACTORIES - {"full", "linspace", "logspace", "arange", "range"}))
def test_tensors_are_made_of_numbers_as_of_tensors(name: str) -> None:
    make = getattr(torch, name)
    assert made(make(torch.tensor(0.5))) == made(make(0.5))


@pytest.mark.parametrize("name", ["linspace", "logspace", "arange"])
def test_bounds_are_numbers_or_tensors(name: str) -> None:
    rest = () if name == "arange" else (3,)
    make = getattr(torch, name)
    assert made(make(torch.tensor(0.5), torch.tensor(2.5), *rest)) == made(make(0.5, 2.5, *rest))


def test_a_tensor_is_filled_with_a_number_or_a_tensor() -> None:
    full: Callable[..., Any] = getattr(torch, "full")  # noqa: B009 - its stub has numbers only
    assert made(full((2,), torch.tensor(0.5))) == made(full((2,), 0.5))
