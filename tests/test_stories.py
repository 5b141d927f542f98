"""The stories that findings tell: each step has to be true of the program that it is told of."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """\
from collections import deque
import torch
from torch import nn

net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
losses = {losses}
for step in range(1000):
    loss = net(torch.randn(4, 2)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)
"""


@pytest.mark.parametrize(
    ("losses", "until"),
    [
        ("[]", "for as long as this loop runs"),
        ("deque()", "for as long as this loop runs"),
        ("deque(maxlen=100)", "until the deque is full"),
        ("deque([], int(input()))", "until the deque is full"),
    ],
)
def test_how_long_memory_grows(losses: str, until: str) -> None:
    [finding] = check(Source.from_bytes(PROGRAM.format(losses=losses).encode(), "train.py"), CheckOptions()).findings
    assert finding.story[-1].line == 8
    assert finding.story[-1].text.endswith(f"memory grows {until}")


def test_a_list_with_places_grows_until_they_are_filled() -> None:
    program = PROGRAM.format(losses="[None] * 1000").replace("losses.append(loss)", "losses[step] = loss")
    [finding] = check(Source.from_bytes(program.encode(), "train.py"), CheckOptions()).findings
    assert finding.story[-1].text.endswith("memory grows until all places of the list are filled")


CALLED = """\
import torch
from torch import nn

net = nn.Linear(2, 1)
optimizer = torch.optim.LBFGS(net.parameters())
total = 0.0

def closure():
    global total
    optimizer.zero_grad()
    loss = net(torch.randn(4, 2)).pow(2).mean()
    loss.backward()
    total = total + loss
    return loss

optimizer.step(closure)
print(float(total))
"""


def test_memory_grows_with_every_call_of_a_closure() -> None:
    [finding] = check(Source.from_bytes(CALLED.encode(), "train.py"), CheckOptions()).findings
    assert finding.story[-1].line == 8
    assert finding.story[-1].text.startswith("the next call ")
    assert finding.story[-1].text.endswith("memory grows with every call")


RETAINED = """\
import torch
from torch import nn

painter, expert = nn.Linear(3, 4), nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
painter_opt = torch.optim.SGD(painter.parameters(), lr=0.02)
expert_opt = torch.optim.SGD(expert.parameters(), lr=0.02)
hidden = nn.Linear(3, 3)
painter_opt.add_param_group({"params": hidden.parameters()})
for picture in torch.randn(6, 8, 4):
    forgery = painter(hidden(torch.randn(8, 3)))
    painter_opt.zero_grad()
    expert(forgery).mean().backward(retain_graph=True)
    painter_opt.step()
    expert_opt.zero_grad()
    expert_loss = expert(picture).mean() + expert(forgery).pow(2).mean()
    expert_loss.backward()
    expert_opt.step()
"""


def test_the_step_that_makes_a_retained_walk_raise_is_named() -> None:
    [finding] = check(Source.from_bytes(RETAINED.encode(), "train.py"), CheckOptions()).findings
    assert finding.code == "AD203"
    assert [step.line for step in finding.story] == [10, 12, 13, 16, 15]
    assert finding.story[2].text.startswith("`painter_opt.step()` changes tensors in place")


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [("name", "getattr(self, name)", "getattr(self, name)"), ("'total'", "self.total", "self.total")],
)
def test_what_is_set_by_name_is_named(name: str, value: str, shown: str) -> None:
    text = f"""
import torch
from torch import nn

class Metric:
    def __init__(self):
        self.total = torch.zeros(3)

    def add(self, **terms):
        for name, term in terms.items():
            setattr(self, {name}, {value} + term)

net, metric = nn.Linear(3, 3), Metric()
for x in torch.randn(30, 8, 3):
    loss = net(x).pow(2).mean(0)
    loss.sum().backward()
    metric.add(total=loss)
print(metric.total)
"""
    (finding,) = check(Source.from_bytes(text.encode(), "x.py"), CheckOptions()).findings
    assert finding.message.startswith(f"`{shown}` keeps the autograd graph")


PLAYERS = """\
import torch
from torch import nn

left, right, trunk = nn.Linear(3, 1), nn.Linear(3, 1), nn.Linear(3, 3)
optimizers = [torch.optim.SGD(left.parameters(), lr=0.1), torch.optim.SGD(right.parameters(), lr=0.1)]
seen = trunk(torch.rand(4, 3)).tanh()
for optimizer, loss in zip(optimizers, [left(seen).mean(), right(seen).mean()]):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_what_the_losses_of_several_passes_share_is_named() -> None:
    (finding,) = check(Source.from_text(PLAYERS, "program.py"), CheckOptions()).findings
    assert "the graph of `trunk(torch.rand(4, 3)).tanh()` is built once" in finding.message


@pytest.mark.parametrize("moved", ["type(torch.FloatTensor)", "to('cpu')", "float()"])
def test_a_network_out_of_view_has_its_name_wherever_it_is_moved(moved: str) -> None:
    text = f"""\
import torch
from nets import build

net = build().{moved}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(4, 2)
out = net(net(x))
out.mean().backward(retain_graph=True)
optimizer.step()
out.pow(2).mean().backward()
"""
    [finding] = check(Source.from_bytes(text.encode(), "train.py"), CheckOptions(fixes=False)).findings
    assert (finding.code, finding.story[0].text) == ("AD202", "builds the graph; `build` saves tensors for backward")
