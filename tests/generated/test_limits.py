"""Each limit recognises its cause, and nothing else: without the cause, the same disagreement is not explained."""

from __future__ import annotations

import pytest

from .compare import compare
from .limits import (
    grows_if_endless,
    is_at_its_place_with_zeros,
    is_seen_from_any_step,
    limit,
    raises_if_always_alike,
    stood_behind,
)

COUNTED = """\
import torch

net = torch.nn.Linear(3, 3)
average = None
step = 0
for x in torch.randn(18, 2, 3):
    step += 1
    loss = net(x).pow(2).sum()
    loss.backward()
    if step % 2 == 0:
        average = loss if average is None else 0.9 * average + 0.1 * loss
print(average)
"""
LOCAL = """\
import torch

def main():
    cell = torch.nn.GRUCell(3, 3)
    h = torch.zeros(2, 3)
    for step in range(6):
        h = cell(torch.randn(2, 3), h)
    print("done")

main()
"""
ALIKE = """\
import torch

cell = torch.nn.GRUCell(3, 3)
other = torch.nn.GRUCell(3, 3)
h = torch.zeros(2, 3)
for step in range(18):
    x = torch.randn(2, 3)
    out = cell(x, h)
    other(x, h).pow(2).mean().backward()
    h = 0.5 * out + 0.5 * h
    if step % 2 == 1:
        h = torch.zeros(2, 3)
print("done")
"""
UNUSED = """\
import torch

cell = torch.nn.GRUCell(3, 3)
net = torch.nn.Linear(3, 3)
w = torch.ones(3, 3, requires_grad=True)
h = torch.zeros(2, 3)
state = torch.zeros(2, 3)
data = [torch.randn(2, 3) for _ in range(6)]
for x in data:
    state = cell(h, state)
    out = net(h) @ w
    grads = torch.autograd.grad(state.pow(2).sum(), w, allow_unused=True)
    if grads[0] is not None:
        with torch.no_grad():
            w -= 0.01 * grads[0]
    h.copy_(out)
"""
BEHIND = """\
import torch

net = torch.nn.Linear(3, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(5):
    x = torch.randn(2, 3)
    out = net(torch.tanh(net(x)))
    first = out.sum()
    second = out.pow(2).sum()
    third = x.pow(2).sum()
    first.backward(retain_graph=True)
    opt.step()
    second.backward()
    opt.step()
    third.backward()
"""


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        (COUNTED, "missed growth", "three passes are run"),
        (LOCAL, "missed growth", "what nothing differentiates"),
        (ALIKE, "false AD302", "a test of a remainder"),
        (UNUSED, "another place version", "`autograd.grad`"),
        (BEHIND, "fixed AD202 raises no-history", "what stands behind"),
    ],
)
def test_a_limit_recognises_its_cause(source: str, kind: str, words: str) -> None:
    outcome = compare(source)
    explained = {d.kind: limit(source, outcome, d) for d in outcome.disagreements}
    assert (explained.get(kind) or "").startswith(words), explained


def test_a_limit_explains_nothing_else() -> None:
    """Without its cause none of them holds."""
    sound = COUNTED.replace("* loss", "* loss.item()").replace("= loss if", "= loss.item() if")
    assert not is_seen_from_any_step(sound, "missed growth")
    assert not is_seen_from_any_step(sound, "missed version")
    assert not is_seen_from_any_step(COUNTED.replace("step % 2 == 0", "step > 1"), "missed growth")
    assert not grows_if_endless(LOCAL.replace("randn(2, 3), h)", "randn(2, 3), h).detach()"))
    assert not raises_if_always_alike(ALIKE.replace("+ 0.5 * h", "").replace("0.5 * out", "out.detach()"))
    assert not is_at_its_place_with_zeros(UNUSED.replace("cell(h, state)", "cell(h, state).detach() + w"))
    assert not stood_behind(BEHIND.replace("x.pow(2).sum()", "out.sum()"))
