"""What rules and repairs cost where a file has many of the same: with twice as many of them, twice as much.

The fuel of the machine does not count what they do, so that the calls of Python functions are counted.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from calls import calls_of

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

HEAD = """\
import torch
from losses import net, report

w = torch.randn(3, requires_grad=True)
x = torch.randn(3)
kept = []
"""


def retained(count: int) -> str:
    """A script without loops that keeps each graph, and hands each loss on."""
    return HEAD + "loss = (w * x).sum()\nreport(loss)\nloss.backward(retain_graph=True)\n" * count


def of_one_network(count: int) -> str:
    """Losses that a network out of view gives, two of one graph."""
    unit = "loss = net.loss(x)\nloss.backward(retain_graph=True)\npenalty = net.penalty()\npenalty.backward()\n"
    return HEAD + "for k in range(3):\n" + "".join(f"    {line}\n" for line in unit.splitlines()) * count


def sums(count: int) -> str:
    """One loop with many sums of losses."""
    begin = "".join(f"total{n} = 0\n" for n in range(count))
    body = "".join(f"    total{n} += (w * x).pow({n}).sum()\n" for n in range(count))
    return HEAD + begin + "for k in range(100):\n" + body


def loops_of_sums(count: int) -> str:
    unit = "total{n} = 0\nfor k in range(100):\n    loss = (w * x).pow({n}).sum()\n    loss.backward()\n"
    return HEAD + "".join((unit + "    total{n} += loss\n").format(n=n) for n in range(count))


def stored(count: int) -> str:
    """One loop with many lists of losses."""
    begin = "".join(f"list{n} = []\n" for n in range(count))
    body = "".join(f"    list{n}.append((w * x).pow({n}).sum())\n" for n in range(count))
    return HEAD + begin + "for k in range(100):\n" + body


def loops_that_store(count: int) -> str:
    unit = "for k in range(100):\n    loss = (w * x).pow({n}).sum()\n    loss.backward()\n    kept.append(loss)\n"
    return HEAD + "".join(unit.format(n=n) for n in range(count))


def lost(count: int) -> str:
    """Losses that are copied, and then differentiated."""
    unit = "kept{n} = [(w * x).pow({n}).sum()]\ntorch.tensor(kept{n}).mean().backward()\n"
    return HEAD + "".join(unit.format(n=n) for n in range(count))


def steps(count: int) -> str:
    """A loop with many steps, each of which changes what the next loss has saved."""
    unit = "    loss = net(x).mean()\n    fit.zero_grad()\n    loss.backward()\n    fit.step()\n"
    return HEAD + "fit = torch.optim.SGD(net.parameters(), 0.1)\nfor k in range(3):\n" + unit * count


@pytest.mark.parametrize("write", [retained, of_one_network, sums, loops_of_sums, stored, loops_that_store, steps])
def test_calls_grow_with_what_is_found(write: Callable[[int], str]) -> None:
    calls(write, 2)  # what is loaded at first
    assert calls(write, 48) < 2.7 * calls(write, 24)


def test_calls_grow_with_what_is_found_one_by_one() -> None:
    """Repairs that are not proven together each run the whole program, which the budget bounds: they are left out."""
    calls(lost, 2)
    assert calls(lost, 48, fixes=False) < 2.7 * calls(lost, 24, fixes=False)


def calls(write: Callable[[int], str], count: int, *, fixes: bool = True) -> int:
    source = Source.from_bytes(write(count).encode(), "a.py")
    return calls_of(lambda: check(source, CheckOptions(fixes=fixes)))


def test_depth_does_not_multiply_what_is_kept() -> None:
    """Passes of twelve loops in each other, each of which keeps a loss for all that come later."""
    heads = "".join(f"{'    ' * n}for i{n} in range(100):\n" for n in range(12))
    body = ("kept.append((w * x).sum())", "torch.stack(kept).mean().backward(retain_graph=True)")
    text = HEAD + heads + "".join(f"{'    ' * 12}{line}\n" for line in body)
    source = Source.from_bytes(text.encode(), "a.py")
    assert calls_of(lambda: check(source, CheckOptions())) < 12_000_000
