"""What a function gathers for what it returns: a cut is safe only where all that its callers do with that is seen."""

from __future__ import annotations

import pytest

from autodetach.candidates.called_out_of_view import DEMONSTRATED, NAMED, RETURNED
from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """\
import torch
from torch import nn


def divergence(field, points, probes=4):
    terms = []
    for _ in range(probes):
        probe = torch.randn_like(points)
        (along,) = torch.autograd.grad(field, points, probe, retain_graph=True, create_graph=True)
        terms.append((along * probe).sum(dim=1))
    return torch.stack(terms).mean(dim=0)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)

    {method}


if {test}:
    points = torch.randn(1, 3, requires_grad=True)
    print(divergence(points @ torch.eye(3), points, probes=256).item())
"""
RETURNING = """def forward(self, points):
        return divergence(self.net(points), points)"""
THROUGH_LAMBDA = """def forward(self, points):
        estimate = lambda field: divergence(field, points)
        return estimate(self.net(points))"""
GIVING = """def solver(self):
        return elsewhere.Solver(self.net, lambda field, points: divergence(field, points))"""
ONLY_SHOWN = """def forward(self, points):
        return self.net(points)"""
GUARD = '__name__ == "__main__"'


@pytest.mark.parametrize(
    ("method", "test", "doubt"),
    [
        (RETURNING, GUARD, RETURNED),
        (RETURNING, "True", RETURNED),
        (THROUGH_LAMBDA, GUARD, RETURNED),
        (GIVING, GUARD, NAMED),
        (ONLY_SHOWN, GUARD, DEMONSTRATED),
        (ONLY_SHOWN, "True", None),
    ],
)
def test_a_cut_is_safe_only_where_all_callers_are_in_view(method: str, test: str, doubt: str | None) -> None:
    result = check(Source.from_text(PROGRAM.format(method=method, test=test), "program.py"), CheckOptions())
    assert [(f.code, f.fix and f.fix.why_unsafe) for f in result.findings] == [("AD102", doubt)]


TRAINING = """\
import torch
from torch import nn


def quality(model, batches):
    total = 0
    for x in batches:
        total += model(x).abs().mean()
    return total / len(batches)


{other}


def main():
    model = nn.Linear(3, 1)
    batches = [torch.randn(4, 3) for _ in range(300)]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        for x in batches:
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
            optimizer.step()
        print(f"{{quality(model, batches):.3f}}")


main()
"""
OTHERS = {
    "an attribute of something else": "def report(trainer):\n    return trainer.meter.quality(trainer.model)",
    "a parameter": "def report(writer, epoch, quality):\n    writer.send(quality, epoch)",
    "a variable of a comprehension": "def report(history):\n    return [quality for quality in history]",
    "shown as a tensor": "def report(model, batches):\n    value = quality(model, batches)\n    print(value.item())",
    "shown as a number": 'def report(model, batches):\n    print("%.2f" % quality(model, batches))',
    "returned": "def report(model, batches):\n    return quality(model, batches) ** 0.5",
    "stored": "def report(model, batches, record):\n    record.value = quality(model, batches)",
    "handed on": "def report(fit):\n    fit(quality)",
    "handed on by default": "def report(model, batches, quality=quality):\n    return quality(model, batches)",
}


@pytest.mark.parametrize(
    ("other", "doubt", "call"),
    [
        ("an attribute of something else", None, ".item()"),
        ("a parameter", None, ".item()"),
        ("a variable of a comprehension", None, ".item()"),
        ("shown as a number", None, ".item()"),
        ("shown as a tensor", None, ".detach()"),
        ("returned", NAMED, ".item()"),
        ("stored", NAMED, ".item()"),
        ("handed on", NAMED, ".item()"),
        ("handed on by default", NAMED, ".item()"),
    ],
)
def test_only_what_others_may_train_with_is_in_doubt(other: str, doubt: str | None, call: str) -> None:
    source = Source.from_text(TRAINING.format(other=OTHERS[other]), "program.py")
    (finding,) = check(source, CheckOptions()).findings
    assert finding.fix is not None
    assert (finding.code, finding.fix.why_unsafe, call in finding.fix.message) == ("AD101", doubt, True)


def test_what_a_file_only_runs_is_looked_at_by_nobody() -> None:
    run_for_itself = TRAINING.replace("def quality(model, batches):", "def main():\n    {head}", 1)
    head = "model = nn.Linear(3, 1)\n    batches = [torch.randn(4, 3) for _ in range(300)]"
    run_for_itself = run_for_itself.partition("{other}")[0].format(head=head)
    guard = 'if __name__ == "__main__":\n    '
    for call, doubt in (("main()", None), ("print(main())", DEMONSTRATED)):
        result = check(Source.from_text(run_for_itself + guard + call + "\n", "program.py"), CheckOptions())
        assert [(f.code, f.fix and f.fix.why_unsafe) for f in result.findings] == [("AD101", doubt)]
