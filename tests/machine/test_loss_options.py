"""Where the options of losses stand among their arguments, on the installed PyTorch."""

from __future__ import annotations

import inspect

import pytest
import torch.nn.functional as F
from torch import nn

from autodetach.machine.loss_options import OF_LOSSES, is_reduced, options_of_call
from autodetach.machine.torch_semantics import MODULES, OPS, Shape

OLD = {"NLLLoss2d": "NLLLoss"}
"""Classes that hand on what they are given to another one."""


def test_all_losses_have_their_parameters() -> None:
    functions = {name for name, op in OPS.items() if op.shape is Shape.LOSS}
    assert functions | {name for name, module in MODULES.items() if module.result == "loss"} == OF_LOSSES.keys()


@pytest.mark.parametrize("name", sorted(OF_LOSSES))
def test_parameters(name: str) -> None:
    name = OLD.get(name, name)
    parameters = tuple(inspect.signature(getattr(F, name, None) or getattr(nn, name)).parameters)
    assert parameters[: parameters.index("reduction") + 1] == OF_LOSSES[name]


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ({}, True),
        ({"reduction": "batchmean"}, True),
        ({"reduction": "none"}, False),
        ({"reduction": None}, False),
        ({"reduce": False}, False),
        ({"reduce": True, "size_average": False}, True),
        ({"reduce": "not known"}, False),
        ({"size_average": 1.0}, False),
        ({"**": None}, False),
    ],
)
def test_what_is_a_number(options: dict[str, object], answer: bool) -> None:
    assert is_reduced(options) is answer


def test_options_by_place() -> None:
    assert options_of_call("mse_loss", ["out", "y", None, False], {})["reduce"] is False
    assert options_of_call("huber_loss", ["out", "y", "none"], {"delta": 2.0})["reduction"] == "none"
    assert options_of_call("no_loss", ["out", "y", "none"], {"delta": 2.0}) == {"delta": 2.0}
