"""Functions of PyTorch whose arguments are given by name: what is computed is what it is by place."""

from __future__ import annotations

import ast

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.machine.exploring import analyse
from autodetach.source import Source

PROGRAM = """
import torch
import torch.nn.functional as F
from torch import nn

w = torch.randn(3, 3, requires_grad=True)
total = 0
for _ in range(3):
    x = torch.rand(3, 3)
    labels = torch.randint(0, 3, (3,))
    loss = ({call}).sum()
    w.grad = None
    loss.backward()
    total += loss
print(total.item())
"""
CALLS = """
torch.matmul(input=x, other=w)
torch.matmul(other=w, input=x)
torch.mm(input=x, mat2=w)
torch.bmm(input=x[None], mat2=w[None])
torch.mv(input=w, vec=x[0])
torch.outer(input=x[0], vec2=w[0])
torch.addmm(input=x, mat1=x, mat2=w)
torch.add(input=x, other=w)
torch.mul(other=w, input=x)
torch.max(input=x, other=w)
torch.sum(input=w * w)
torch.pow(input=w, exponent=2)
torch.clamp(input=w * w, min=0.1)
torch.cat(tensors=[x, w * w], dim=0)
torch.stack(tensors=(x, w * w))
torch.where(condition=x > 0.5, input=w * w, other=x)
torch.lerp(input=x, end=w.exp(), weight=0.5)
torch.chunk(input=w * w, chunks=3)[1]
torch.split(tensor=w * w, split_size_or_sections=1)[0]
torch.linalg.vector_norm(x=w)
torch.as_tensor(data=w * w)
F.linear(input=x, weight=w)
F.linear(x, weight=w)
F.relu(input=w * w, inplace=True)
F.dropout(input=w * w, p=0.0)
F.softmax(input=w, dim=1)
F.mse_loss(target=x, input=w)
F.cross_entropy(input=w, target=labels)
F.embedding(input=labels, weight=w.exp())
F.cosine_similarity(x1=w, x2=x)
F.scaled_dot_product_attention(query=w, key=x, value=x)
nn.MSELoss()(input=w, target=x)
nn.ReLU(inplace=True)(input=w * w)
nn.Dropout(p=0.0)(input=w * w)
nn.Sequential(nn.Linear(3, 3))(input=w)
x.matmul(other=w)
x.add_(other=w.exp())
torch.utils.checkpoint.checkpoint(function=torch.exp, input=w, use_reentrant=False)
torch.nn.utils.parameters_to_vector(parameters=[w])
""".strip().splitlines()
FUNCTIONS = """
torch.matmul torch.mm torch.bmm torch.mv torch.dot torch.add torch.max torch.cat torch.stack torch.where torch.einsum
torch.lerp torch.chunk torch.split torch.as_tensor torch.tensor torch.full torch.zeros_like torch.autograd.grad
torch.autograd.backward torch.utils.checkpoint.checkpoint torch.utils.checkpoint.checkpoint_sequential F.linear F.relu
F.dropout F.mse_loss F.cross_entropy F.embedding F.triplet_margin_loss x.matmul x.backward x.add_ x.view x.to
torch.Tensor.add nn.Parameter nn.Linear nn.MSELoss() nn.ReLU(inplace=True) nn.LSTM(3,3) torch.nn.init.normal_
""".split()
ARGUMENTS = (
    "", "*a", "**k", "*a, **k", "w, **k", "inplace=True", "inplace=True, **k", "other=w", "input=x, mat2=w", "out=w",
    "tensors=[w, x]", "inputs=w", "outputs=w, inputs=[x]", "gradient=x", "input=w, target=x", "training=False",
)  # fmt: skip
ODD = """
import torch
import torch.nn.functional as F
from torch import nn
from elsewhere import a, k
w = torch.randn(3, 3, requires_grad=True)
x = w * 2
if True:
    y = {}
"""


def codes(program: str) -> list[str]:
    found = check(Source.from_text(program, "train.py"), CheckOptions(), path="train.py").findings
    return [finding.code for finding in found]


@pytest.mark.parametrize("call", CALLS)
def test_history_flows_through_what_is_given_by_name(call: str) -> None:
    program = PROGRAM.format(call=call)
    exec(program, {"torch": torch, "F": F, "nn": nn})  # PyTorch knows these names
    assert codes(program) == ["AD101"]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_any_arguments_are_borne(function: str) -> None:
    for arguments in ARGUMENTS:
        analyse(ast.parse(ODD.format(f"{function}({arguments})")))


def test_a_gradient_is_asked_for_by_name() -> None:
    program = PROGRAM.format(call="w * x").replace("loss.backward()", "{}; {}").replace("total += loss", "")
    grad, backward = "torch.autograd.grad(inputs=w, outputs=loss)", "torch.autograd.backward(tensors=loss)"
    assert codes(program.format(grad, backward)) == ["AD201"]
    assert codes(program.format(backward, "loss.backward(gradient=None)")) == ["AD201"]
