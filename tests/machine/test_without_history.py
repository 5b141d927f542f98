"""What a method of something unknown takes of a tensor that it is given: its shape, or its values, but no history."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """import torch
from torch import nn

net, other = nn.Linear(3, 1), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*net.parameters(), *other.parameters()])


def train(batch):
    given = batch["given"]
    out = net(batch["x"]).exp()
    out.sum().backward()
    made = {}
    (other(batch["x"]) * made).sum().backward()
    optimizer.step()
"""


def codes(expression: str) -> list[str]:
    source = Source.from_bytes(PROGRAM.replace("made = {}", f"made = {expression}").encode(), "a.py")
    return [f.code for f in check(source, CheckOptions()).findings]


@pytest.mark.parametrize(
    "expression",
    [
        "given.expand_as(out)",
        "given.expand_as(other=out)",
        "given.float().expand_as(out)",
        "given[:, :-1].expand_as(out)",
        "given.reshape_as(out)",
        "given.resize_as_(out)",
        "given.view_as(out)",
        "given.type_as(out)",
        "given.to(out)",
        "given.to(other=out)",
        "given.type(out.type())",
        "given.to(out.device, out.dtype)",
        "given.expand(out.shape)",
        "given.new_tensor(out)",
        "given.new_zeros(out.shape)",
        "given.new_full(out.shape, 2.0)",
        "given.eq(out)",
        "given.gt(out)",
        "given.lt(other=out)",
        "given.isclose(out)",
        "torch.ones(1, 1).expand_as(out)",
        "torch.ones(1, 1).resize_as_(out)",
        "torch.ones(1, 1).type(out.type())",
        "torch.Tensor.view_as(given, out)",
        "torch.broadcast_to(given, out.shape)",
        "torch.broadcast_tensors(torch.ones(1), out)[0]",
        "torch.zeros_like(out)",
        "torch.full_like(out, 1.0)",
        "torch.rand_like(out)",
        "torch.empty_like(out)",
        "torch.nn.functional.interpolate(given, size=out.shape[2:])",
        "torch.nn.functional.pad(given, (0, out.size(1)))",
    ],
)
def test_no_history_is_taken(expression: str) -> None:
    assert codes(expression) == []


@pytest.mark.parametrize(
    "expression",
    [
        "given.add(out)",
        "given.where(given > 0, out)",
        "given.expand_as(out) * out",
        "given.combine(out)",
        "given.copy_(out)",
        "given.ge(out, given)",
        "out.expand_as(given)",
        "torch.ones(1, 1).copy_(out)",
    ],
)
def test_history_is_taken(expression: str) -> None:
    assert codes(expression) != []
