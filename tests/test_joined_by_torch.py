"""What was gathered in a list is joined by `torch` itself, by whatever name: a class of `torch.cuda` joins nothing."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

PROGRAM = """\
{imports}
from torch import nn, optim

trunk = nn.Linear(4, 5)
heads = nn.ModuleList(nn.Linear(5, 1) for _ in range(3))
optimizer = optim.SGD([*trunk.parameters(), *heads.parameters()], lr=0.1)
inputs = nn.Parameter(trunk.weight.detach().clone(), requires_grad=False)

for _ in range(3):
    features = trunk(inputs)
    terms = {made}([(head(features) - 1).pow(2).mean() for head in heads])
    loss = terms.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def _repaired(imports: str, made: str) -> tuple[str, Applicability] | None:
    source = Source.from_text(PROGRAM.format(imports=imports, made=made), "program.py")
    (finding,) = check(source, CheckOptions(fixes=True)).findings
    assert finding.code == "AD501"
    if finding.fix is None:
        return None
    [edit] = finding.fix.edits
    return edit.replacement, finding.fix.applicability


@pytest.mark.parametrize(
    ("imports", "made", "joined"),
    [
        ("import torch", "torch.tensor", "stack"),
        ("import torch", "torch.FloatTensor", "stack"),
        ("import torch as th", "th.tensor", "stack"),
    ],
)
def test_a_function_of_torch_becomes_another(imports: str, made: str, joined: str) -> None:
    assert _repaired(imports, made) == (joined, Applicability.SAFE)


@pytest.mark.parametrize(
    ("imports", "made", "joined"),
    [
        ("import torch", "torch.cuda.FloatTensor", "torch.stack"),
        ("import torch as th", "th.cuda.DoubleTensor", "th.stack"),
        ("import torch\nfrom torch import cuda", "cuda.FloatTensor", "torch.stack"),
    ],
)
def test_a_class_of_another_device_is_replaced_as_a_whole(imports: str, made: str, joined: str) -> None:
    assert _repaired(imports, made) == (joined, Applicability.UNSAFE)


def test_torch_has_no_name() -> None:
    assert _repaired("from torch import cuda", "cuda.FloatTensor") is None
