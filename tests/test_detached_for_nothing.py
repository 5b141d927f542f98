"""What a network out of view gave is a tensor where a function of PyTorch or arithmetic takes it."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

SHOWN = """\
import torch
from torch.nn import functional as F


def shown(network, x):
    network.eval()
    codes = network(x)
    codes.detach()
    return USED
"""


def codes_of(used: str) -> list[str]:
    return [f.code for f in check(Source.from_text(SHOWN.replace("USED", used), "program.py"), CheckOptions()).findings]


@pytest.mark.parametrize(
    "used",
    [
        "F.softmax(codes, dim=1)",
        "torch.cat([codes, x])",
        "F.kl_div(x.log_softmax(1), codes)",
        "codes * 2",
        "x - codes",
        "-codes",
        "torch.mean(codes).sqrt()",
    ],
)
def test_what_pytorch_computes_with_is_a_tensor(used: str) -> None:
    assert codes_of(used) == ["AD402"]


@pytest.mark.parametrize(
    "used", ["codes", "codes.mean()", "codes.rows + 1", "torch.softmax(codes.rows, 1)", "network(codes)"]
)
def test_nobody_knows_of_what_others_compute_with(used: str) -> None:
    assert codes_of(used) == []
