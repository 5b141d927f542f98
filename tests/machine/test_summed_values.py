"""`sum(map(step, loader))` keeps the graphs of all steps until it has its result, wherever it is written."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.fixing import fix
from autodetach.source import Source

HEAD = """\
import torch
from torch.utils.data import DataLoader

torch.manual_seed(0)
points = torch.randn(120, 3)
batches = DataLoader(list(points), batch_size=4)
scorer = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(scorer.parameters(), lr=0.05)


def fit(batch):
    optimizer.zero_grad()
    loss = (scorer(batch).squeeze(1) - batch.sum(1)).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss


"""
LINES = {
    'print(f"{sum(map(fit, batches)) / len(batches):.4f}")': "sum(t.detach() for t in map(fit, batches))",
    "print('mean', float(sum(map(fit, batches))))": "sum(t.detach() for t in map(fit, batches))",
    "total = sum(map(fit, batches))\nprint(total)": "sum(t.detach() for t in map(fit, batches))",
}


@pytest.mark.parametrize(("line", "repaired"), LINES.items())
def test_sum_of_what_map_makes(line: str, repaired: str) -> None:
    source = Source.from_bytes((HEAD + line + "\n").encode(), "program.py")
    found = check(source, CheckOptions(alternatives=False)).findings
    assert [(f.code, f.fix and f.fix.applicability.value) for f in found] == [("AD101", "unsafe")]
    assert repaired in fix(source, CheckOptions(), unsafe=True).source.text
