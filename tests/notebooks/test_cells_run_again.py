"""Cells are run again one by one: what another cell has built is then not built anew."""

from __future__ import annotations

import json

import pytest
from test_notebook import notebook

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.notebooks.notebook import read
from autodetach.source import Source

LEAF = "import torch\nx = torch.arange(3.0, requires_grad=True)\n"
BUILT = "y = torch.sigmoid(x)\n"
WALKED = "y.backward(torch.ones(3), retain_graph=True)\nprint(x.grad)"
IN_FUNCTION = "def f(v):\n    return torch.sigmoid(v).sum()\n"


LEFT = "whoever runs this cell again may walk what it has left, or is imported, again"


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([LEAF + BUILT, WALKED], "whoever runs this cell again may walk the graph of cell 1 again"),
        ([LEAF, BUILT + WALKED], LEFT),
        ([LEAF + IN_FUNCTION, "f(x).backward(retain_graph=True)\nprint(x.grad)"], LEFT),
        (
            [LEAF + IN_FUNCTION, "y = f(x)\n", "y.backward(retain_graph=True)\nprint(x.grad)"],
            "whoever runs this cell again may walk the graph of cell 2 again",
        ),
        ([LEAF + "h = torch.zeros(3)\n", "h = torch.tanh(x + h)\nh.sum().backward(retain_graph=True)"], LEFT),
    ],
)
def test_in_a_notebook_the_graph_may_be_walked_again(cells: list[str], why: str) -> None:
    source = read(json.dumps(notebook(*cells)).encode(), "a.ipynb")
    (found,) = check(source, CheckOptions()).findings
    assert found.code == "AD103" and found.fix is not None
    assert found.fix.why_unsafe == why
    assert found.fix.applicability is Applicability.UNSAFE


def test_a_script_is_run_as_a_whole() -> None:
    (found,) = check(Source.from_text(LEAF + BUILT + WALKED, "a.py"), CheckOptions()).findings
    assert found.fix is not None and found.fix.applicability is Applicability.SAFE
