"""What lies in order in memory, and of what `reshape` makes a view: as PyTorch has it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from autodetach.machine.sure_views import IN_ORDER, RESHAPING

WEIGHT = torch.ones(4, 4, requires_grad=True)
TURNED = (2 * WEIGHT).t()
DEEP = torch.randn(4, 3, 4, 2).permute(2, 1, 3, 0)
NUMBERS = torch.tensor([[0, 1], [1, 2], [0, 0]]).t()

RESULTS: dict[str, Callable[[], torch.Tensor]] = {
    "Embedding": lambda: nn.Embedding(3, 4)(NUMBERS),
    "embedding": lambda: F.embedding(NUMBERS, TURNED),
    "Linear": lambda: nn.Linear(4, 6)(DEEP),
    "linear": lambda: F.linear(DEEP, TURNED),
    "addmm": lambda: torch.addmm(TURNED, TURNED, TURNED),
    "bmm": lambda: torch.bmm(DEEP[0].transpose(0, 1) * WEIGHT[0, 0], DEEP[0].permute(1, 2, 0)),
    "cat": lambda: torch.cat([TURNED, TURNED], 1),
    "matmul": lambda: DEEP @ TURNED,
    "mm": lambda: torch.mm(TURNED, TURNED),
    "stack": lambda: torch.stack([TURNED, TURNED], -1),
}


@pytest.mark.parametrize("name", sorted(IN_ORDER))
def test_a_reshaped_result_is_a_view(name: str) -> None:
    for made in (RESULTS[name](), RESULTS[name]().tanh().softmax(-1)):
        assert made.is_contiguous()
        with pytest.raises(RuntimeError, match="Can't detach views in-place"):
            made.reshape(2, -1).detach_()


@pytest.mark.parametrize("name", sorted(RESHAPING))
def test_what_makes_views_of_what_lies_in_order(name: str) -> None:
    made = 2 * WEIGHT
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        getattr(made, name)(*{"reshape": (-1,), "reshape_as": (made,)}.get(name, ())).detach_()
