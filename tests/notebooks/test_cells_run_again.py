"""Cells are run again one by one: what another cell has built is then not built anew."""

from __future__ import annotations

import json

import pytest
from test_notebook import notebook

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.notebooks.notebook import read

LEAF = "import torch\nx = torch.arange(3.0, requires_grad=True)\n"
BUILT = "y = torch.sigmoid(x)\n"
WALKED = "y.backward(torch.ones(3), retain_graph=True)\nprint(x.grad)"
IN_FUNCTION = "def f(v):\n    return torch.sigmoid(v).sum()\n"


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([LEAF + BUILT, WALKED], "whoever runs this cell again walks the graph of cell 1 again"),
        ([LEAF, BUILT + WALKED], None),
        ([LEAF + BUILT + WALKED], None),
        ([LEAF + IN_FUNCTION, "f(x).backward(retain_graph=True)\nprint(x.grad)"], None),
        (
            [LEAF + IN_FUNCTION, "y = f(x)\n", "y.backward(retain_graph=True)\nprint(x.grad)"],
            "whoever runs this cell again walks the graph of cell 2 again",
        ),
    ],
)
def test_a_cell_may_walk_the_graph_of_another_one_again(cells: list[str], why: str | None) -> None:
    source = read(json.dumps(notebook(*cells)).encode(), "a.ipynb")
    (found,) = check(source, CheckOptions()).findings
    assert found.code == "AD103" and found.fix is not None
    assert found.fix.why_unsafe == why
    assert found.fix.applicability is (Applicability.SAFE if why is None else Applicability.UNSAFE)
