"""Types that programs tell apart, as PyTorch does."""

from __future__ import annotations

import ast

import pytest
import torch
from torch import nn

from autodetach.machine.run import analyse

MADE = (
    "import torch\nfrom torch import nn\nfrom torch.autograd import Variable\n\n\nclass Own(nn.Linear):\n    pass\n\n\n"
)
QUESTIONS = (
    "type(nn.GRUCell(3, 4)) == nn.Linear",
    "type(nn.Linear(3, 4)) == nn.Linear",
    "type(nn.Linear(3, 4)) is nn.Linear",
    "type(nn.Linear(3, 4)) is nn.modules.linear.Linear",
    "type(nn.Linear(3, 4)) != nn.Conv2d",
    "type(Own(3, 4)) == nn.Linear",
    "type(Own(3, 4)) == Own",
    "type((1, 2)) == list",
    "type([1, 2]) == list",
    "type({}) is dict",
    "type((torch.zeros(1),)) == Variable",
    "type(torch.zeros(1)) == torch.Tensor",
    "nn.Linear(3, 4, bias=False).bias is None",
    "nn.Linear(3, 4, False).bias is None",
    "nn.BatchNorm1d(3, affine=False).weight is None",
    "nn.LayerNorm(3, elementwise_affine=False).bias is None",
    "nn.InstanceNorm1d(3).weight is None",
    "nn.InstanceNorm1d(3, affine=True).weight is None",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_pytorch_says_the_same(question: str) -> None:
    told = analyse(ast.parse(f"{MADE}answer = {question}\n")).runs[0].machine.globals.names["answer"]
    known: dict[str, object] = {"torch": torch, "nn": nn}
    exec(MADE, known)
    assert told is eval(question, known)


def test_a_variable_of_old_programs_is_a_tensor() -> None:
    """`type(h) == Variable` was how they asked, before PyTorch 0.4 made both the same."""
    names = analyse(ast.parse(f"{MADE}answer = type(torch.zeros(1)) == Variable\n")).runs[0].machine.globals.names
    assert names["answer"] is True
