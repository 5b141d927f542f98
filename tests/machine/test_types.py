"""Types that programs tell apart, as PyTorch does."""

from __future__ import annotations

import ast

import pytest
import torch
from torch import nn

from autodetach.machine.exploring import analyse
from autodetach.projects.project import Files
from autodetach.source import Source

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
    "type == 'dot'",
    "'dot' != type",
    "Own == 'Own'",
    "type((torch.zeros(1),)) == Variable",
    "type(torch.zeros(1)) == torch.Tensor",
    "nn.Linear(3, 4, bias=False).bias is None",
    "nn.Linear(3, 4, False).bias is None",
    "nn.BatchNorm1d(3, affine=False).weight is None",
    "nn.LayerNorm(3, elementwise_affine=False).bias is None",
    "nn.InstanceNorm1d(3).weight is None",
    "nn.InstanceNorm1d(3, affine=True).weight is None",
    "type(torch.zeros(1).share_memory_()) == torch.Tensor",
    "type(torch.zeros(1).apply_(abs)) == torch.Tensor",
    "type(torch.zeros(1).map_(torch.ones(1), max)) == torch.Tensor",
    "torch.ones(1, requires_grad=True).retain_grad() is None",
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_pytorch_says_the_same(question: str) -> None:
    told = analyse(ast.parse(f"{MADE}answer = {question}\n")).runs[0].machine.globals.names["answer"]
    known: dict[str, object] = {"torch": torch, "nn": nn}
    exec(MADE, known)
    assert told is eval(question, known)


def test_a_variable_of_old_programs_is_a_tensor() -> None:
    """`type(h) == Variable` was how they asked, before PyTorch 0.4 made both the same; that is looked at first."""
    assert _answers("answer = 'old' if type(torch.zeros(1)) == Variable else 'new'\n") == ["old", "new"]
    assert _answers("answer = 'new' if Variable is not type(torch.zeros(1)) else 'old'\n") == ["old", "new"]


def test_all_tests_for_a_variable_go_the_same_way() -> None:
    both = "h = torch.zeros(1)\nanswer = 'old' if type(h) == Variable else 'new'\n"
    assert _answers(f"{both}answer += ' old' if type(h) is Variable else ' new'\n") == ["old old", "new new"]


RECURSIVE = """
def cut(h):
    if type(h) == Variable:
        return Variable(h.data)
    return tuple(cut(v) for v in h)


answer = 'before'
state = cut((torch.zeros(2, 3), torch.zeros(2, 3)))
answer = 'behind'
"""


def test_what_goes_through_the_elements_of_a_tensor_without_end_raises() -> None:
    assert _answers(RECURSIVE) == ["behind", "before"]
    with pytest.raises(TypeError):
        exec(f"{MADE}{RECURSIVE}", {})


def test_a_program_that_knows_versions_is_not_taken_for_a_new_one() -> None:
    test = "answer = 'old' if torch.__version__ < '0.4' and type(torch.zeros(1)) == Variable else 'new'\n"
    tree = ast.parse(f"{MADE}{test}")
    files = Files("/p.py", Source.from_text(f"{MADE}{test}", "/p.py"), tree)
    assert not any(run.machine.old_tests for run in analyse(tree, project=files).runs)


def _answers(program: str) -> list[object]:
    """On each path; what differentiates nothing would have one alone."""
    runs = analyse(ast.parse(f"{MADE}torch.zeros(1, requires_grad=True).exp().backward()\n{program}")).runs
    return [run.machine.globals.names["answer"] for run in runs]
