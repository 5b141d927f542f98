"""What a sum of losses goes to says whether numbers may be summed in the place of tensors: what trains computes on."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

HEAD = """\
import functools
import random
import statistics

import numpy
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
batches = [torch.randn(8, 4) for _ in range(4)]


def decay():
    with torch.no_grad():
        for weight in net.parameters():
            weight.mul_(0.9)


totals = {}
for epoch in range(4):
    total = 0.0
    for x in batches:
        loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
"""
STEERING = (
    "random.seed(float(total)); random.shuffle(batches)",
    "random.seed(str(float(total))); random.shuffle(batches)",
    "random.seed('%.7f' % total); random.shuffle(batches)",
    "random.seed('{:.7f}'.format(total)); random.shuffle(batches)",
    "random.Random(int(total * 1e7)).shuffle(batches)",
    "torch.Generator().manual_seed(int(total * 1e7))",
    "torch.cuda.manual_seed_all(int(total * 1e7))",
    "numpy.random.seed(int(total * 1e7))",
    "numpy.random.default_rng(int(total * 1e7)).shuffle(batches)",
    "batches = [batches[i] for i in numpy.random.default_rng(hash(float(total))).permutation(4)]",
)
PICKING = (
    "mode = 'a' if int(total * 1e7) % 2 else 'b'; {'a': decay, 'b': optimizer.zero_grad}[mode]()",
    "[optimizer.zero_grad, decay][int(total * 1e7) % 2]()",
    "batches.insert(0, batches.pop(int(total * 1e7) % 4))",
    "match int(total * 1e7) % 3:\n    case 0: decay()\n    case _: pass",
    "match int(total * 1e7) % 3:\n    case 0: batches = batches[::-1]\n    case _: pass",
    "if int(total * 1e7) % 3 == 0: decay()",
)
RATE = "optimizer = torch.optim.SGD(net.parameters(), lr=[0.1, 0.05, 0.02, 0.01][best])"
CHOOSING = (
    "best = min(range(4), key=lambda i: totals[i])",
    "best = min(totals, key=totals.get)",
    "best = list(totals).index(min(totals, key=totals.get))",
    "best = sorted(totals.items(), key=lambda item: item[1])[0][0]",
    "best = functools.reduce(lambda a, b: a if totals[a] <= totals[b] else b, totals)",
    "best = torch.tensor([float(totals[i]) for i in range(4)]).argmin().item()",
    "best = torch.tensor([float(totals[i]) for i in range(4)]).min(0)[1].item()",
    "best = random.choices(range(4), weights=[float(one) for one in totals.values()])[0]",
    "best = list(torch.utils.data.WeightedRandomSampler([float(one) for one in totals.values()], 1))[0]",
)
SHOWN = (
    "print(f'{total / len(batches):.4f}', str(float(total)), '%.3f' % total, '{:.2f}'.format(total))",
    "text = f'{total:.3f}'; print('weights_' + text + '.pt', round(float(text), 2))",
    "print(['even', 'odd'][int(total * 1e7) % 2], {'a': 'down', 'b': 'up'}['a' if total < 1 else 'b'])",
    "match int(total):\n    case 0: print('good')\n    case _: print('bad')",
    "lines = ['a', 'b', 'c']; lines.insert(int(total) % 2, 'd'); print(lines)",
    "totals[f'{total:.2f}'] = epoch; print(list(totals), hash(float(total)))",
)


def repair(lines: str, *behind: str) -> str | None:
    text = HEAD + "".join(f"    {line}\n" for line in lines.splitlines()) + "".join(f"{line}\n" for line in behind)
    source = Source.from_bytes(text.encode(), "program.py")
    found = [f for f in check(source, CheckOptions(fixes=True)).findings if f.code == "AD101"]
    fixes = [f.fix for f in found if f.fix is not None]
    return fixes[0].edits[0].replacement if len(found) == 1 and fixes else None


@pytest.mark.parametrize("lines", [*STEERING, *PICKING])
def test_what_trains_is_made_of_tensors(lines: str) -> None:
    assert repair(lines) == ".detach()"


@pytest.mark.parametrize("lines", SHOWN)
def test_what_is_shown_is_made_of_numbers(lines: str) -> None:
    assert repair(lines) == ".item()"


@pytest.mark.parametrize("line", CHOOSING)
def test_what_chooses_a_rate_is_made_of_tensors(line: str) -> None:
    behind = ("for x in batches:", "    optimizer.zero_grad()", "    net(x).sum().backward()", "    optimizer.step()")
    assert repair("totals[epoch] = total", line, RATE, *behind) == ".detach()"


@pytest.mark.parametrize("line", CHOOSING[:-2])
def test_what_chooses_what_is_printed_is_made_of_numbers(line: str) -> None:
    assert repair("totals[epoch] = total", line, "print('best', best, [0.1, 0.05, 0.02, 0.01][best])") == ".item()"
