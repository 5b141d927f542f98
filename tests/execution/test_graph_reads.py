"""A graph that is read by way of its nodes behind the backward is needed: no differentiation tells of that."""

from __future__ import annotations

import subprocess
import sys

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

BEGIN = """\
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


def saved_by(node):
    total = 0.0
    while node is not None:
        total += node._saved_self.sum().item() if hasattr(node, "_saved_self") else 0.0
        node = node.next_functions[0][0] if node.next_functions else None
    return total


net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    out = Square.apply(net(torch.randn(6, 4)).exp())
    loss = out.tanh().pow(2).mean()
    node = loss.grad_fn if step < 100 else None
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
"""
READS = {
    "walked": "print(saved_by(loss.grad_fn))",
    "asked": "print(out.grad_fn.saved_tensors[0].sum().item())",
    "asked by a text": 'print(getattr(loss, "grad_fn").next_functions[0][0]._saved_self.sum().item())',
    "called": "print(loss.grad_fn.next_functions[0][0](torch.ones(6, 2)).norm().item())",
    "kept": "print(node.next_functions[0][0](node(torch.ones(()))).norm().item())",
    "gathered": "print([saved_by(t.grad_fn) for t in (out, loss)])",
}


def run(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("how", READS)
def test_what_is_read_is_retained(how: str) -> None:
    begin = BEGIN if how == "kept" else BEGIN.replace("    node = loss.grad_fn if step < 100 else None\n", "")
    text = f"{begin}    {READS[how]}\n"
    assert run(text).returncode == 0
    assert "backward through the graph a second time" in run(text.replace("retain_graph=True", "")).stderr
    assert check(Source.from_bytes(text.encode(), "a.py"), CheckOptions()).findings == ()


@pytest.mark.parametrize("shown", ["print(loss.grad_fn)", "print(loss.grad_fn.name(), loss.grad_fn is None)", "pass"])
def test_what_is_only_shown_is_not(shown: str) -> None:
    begin = BEGIN.replace("    node = loss.grad_fn if step < 100 else None\n", "")
    text = f"{begin}    {shown}\n"
    assert run(text.replace("retain_graph=True", "")).returncode == 0
    findings = check(Source.from_bytes(text.encode(), "a.py"), CheckOptions()).findings
    assert [finding.code for finding in findings] == ["AD103"]
