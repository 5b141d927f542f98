"""Which tensors an optimizer refuses: what PyTorch says of operations, and what is certain of them in a program."""

from __future__ import annotations

import ast

import pytest
import torch
from torch.nn import functional

from autodetach.machine.events import NonLeafOptimized
from autodetach.machine.exploring import analyse
from autodetach.machine.non_leaves import MAKING
from autodetach.projects.project import Files
from autodetach.source import Source

LEAF = torch.ones(2, 2, requires_grad=True)
GIVEN: dict[str, tuple[object, ...]] = {
    "add": (1,), "sub": (1,), "mul": (1,), "div": (1,), "true_divide": (1,), "pow": (1,), "matmul": (torch.eye(2),),
    "mm": (torch.eye(2),), "mv": (torch.ones(2),), "softmax": (0,), "log_softmax": (0,), "clamp": (0, 1),
    "view": (2, 2), "view_as": (LEAF,), "reshape": (2, 2), "unsqueeze": (0,), "transpose": (0, 1), "permute": (0, 1),
    "expand": (2, 2), "repeat": (1, 1), "__getitem__": (slice(None),), "index_select": (0, torch.tensor([0, 1])),
    "flip": (0,),
}  # fmt: skip
LISTING = {"stack", "cat"}
SETTING = """
import torch
from torch import nn

w = torch.ones(2, 2, requires_grad=True)
x = {made}
optimizer = {optimizer}
"""


@pytest.mark.parametrize("name", sorted(MAKING))
def test_result_is_no_leaf(name: str) -> None:
    if name in LISTING:
        result = getattr(torch, name)([LEAF])
    elif name == "T":
        result = LEAF.T
    elif hasattr(LEAF, name):
        result = getattr(LEAF, name)(*GIVEN.get(name, ()))
    else:
        result = getattr(functional, name)(LEAF)
    assert not result.is_leaf
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        torch.optim.SGD([result], lr=0.1)


def refused(made: str, optimizer: str = "torch.optim.SGD([x], lr=0.1)") -> bool:
    """Whether the machine is certain that the program ends at its optimizer."""
    source = Source.from_bytes(SETTING.format(made=made, optimizer=optimizer).encode(), "a.py")
    tree = ast.parse(source.text)
    [run, *_] = analyse(tree, project=Files("a.py", source, tree)).runs
    is_told = any(isinstance(fact, NonLeafOptimized) for fact in run.machine.facts)
    assert is_told == (run.stopped_by == "ValueError")
    return is_told


@pytest.mark.parametrize(
    "made",
    ["w * 0.1", "(w * 0.1).to('cpu')", "w.view(4)", "nn.Parameter(w) / 2", "w[0]", "(w + 1).requires_grad_()", "-w.T"],
)
def test_history_is_certain(made: str) -> None:
    assert refused(made)


@pytest.mark.parametrize(
    "made",
    [
        "w",
        "w.to('cpu')",
        "w.float()",
        "+w",
        "w.flatten()",
        "mylib.scaled(w)",
        "mylib.scale() * w",
        "mylib.start() * 0.1",
        "(w * 0.1).detach()",
        "nn.Parameter(w * 0.1)",
        "nn.Identity()(w)",
        "torch.ones(2) * 0.1",
    ],
)
def test_may_be_a_leaf(made: str) -> None:
    assert not refused(made)


@pytest.mark.parametrize(
    "optimizer",
    [
        "torch.optim.Adam(params=[x])",
        "torch.optim.LBFGS(p for p in [w, x])",
        "torch.optim.RMSprop([{'params': [w]}, {'params': [x], 'lr': 0.1}])",
        "torch.optim.AdamW([{'params': x}])",
        "torch.optim.SGD([w], lr=0.1).add_param_group({'params': [x]})",
        "torch.optim.SGD([('w', w), ('x', x)], lr=0.1)",
    ],
)
def test_ways_to_give_it(optimizer: str) -> None:
    assert refused("w * 0.1", optimizer)


@pytest.mark.parametrize(
    "optimizer",
    [
        "mylib.Adam([x])",
        "torch.optim.SGD([x], differentiable=True)",
        "torch.optim.SGD([x], differentiable=mylib.flag)",
        "torch.optim.SGD([x], **mylib.options)",
        "torch.optim.SGD([w], lr=x)",
        "torch.optim.SGD([{'params': [w], 'lr': x}])",
        "torch.optim.SGD([w], differentiable=True).add_param_group({'params': [x]})",
    ],
)
def test_may_be_accepted(optimizer: str) -> None:
    assert not refused("w * 0.1", optimizer)


def test_unclear_context() -> None:
    program = "with mylib.mode():\n    x = w * 0.1\nx.requires_grad_()\noptimizer = torch.optim.SGD([x], lr=0.1)\n"
    head = SETTING.partition("x = ")[0]
    [run, *_] = analyse(ast.parse(head + program)).runs
    assert not run.stopped_by
