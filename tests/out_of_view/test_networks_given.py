"""Networks that code out of view is given: it may train them by what their methods compute."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """\
import torch
from torch import nn
from somewhere import *


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)
        self.state = None

    def begin(self, state):
        self.state = state

    def forward(self, x):
        self.state = self.cell(x, self.state)
        return self.state


class Whole(nn.Module):
    def __init__(self, writer):
        super().__init__()
        self.writer = writer

    def forward(self, x):
        self.writer.begin(x)
        return self.writer(x)


writer = Writer()
writer.begin(torch.zeros(2, 4))
while input():
    print(writer(torch.randn(2, 4)).sum().item())

whole = Whole(Writer())
optimizer = torch.optim.Adam(whole.parameters(), lr=0.01)
{line}
"""


def codes(line: str) -> list[str]:
    source = Source.from_text(PROGRAM.format(line=line), "program.py")
    return [finding.code for finding in check(source, CheckOptions()).findings]


@pytest.mark.parametrize(
    "line",
    [
        "Stepper(whole, nn.MSELoss(), optimizer).train(100)",
        "Stepper(network=whole)",
        "fit(whole, optimizer)",
        "runner = Runner()\nrunner.fit(Writer())",
        "Learner([whole, optimizer])",
        "Learner(dict(model=whole))",
        "train_epochs(nn.Sequential(whole), optimizer)",
        "fit(whole.forward, optimizer)",
        "from trainers import Loop\nLoop(optimizer, whole)",
        "fit_and_evaluate(whole)",
        "TestTimeTraining(whole)",
        "eval_loss(whole, torch.randn(2, 4)).backward()",
    ],
)
def test_who_is_given_a_network_may_train_it(line: str) -> None:
    assert codes(line) == []


@pytest.mark.parametrize(
    "line",
    [
        "print(whole)",
        "summary(whole, (2, 4))",
        "save_checkpoint(whole, 'whole.pt')",
        "torch.save(whole, 'whole.pt')",
        "whole = nn.DataParallel(whole)",
        "fit(nn.Linear(4, 4), optimizer)",
        "make_optimizer(whole)",
        "num_params(whole)",
        "getFlops(whole, (2, 4))",
        "evaluate(whole)",
        "log_model(whole)",
        "ModelEMA(whole)",
        "EMA(whole, beta=0.99)",
        "optimizer = build_opt(whole)",
        "optimizer = torch.optim.AdamW(param_groups_weight_decay(whole, 0.1))",
        "whole.load_state_dict(convert(whole, torch.load('whole.pt')))",
    ],
)
def test_others_do_not_train_it(line: str) -> None:
    assert codes(line) == ["AD302"]


OUTSIDE = """\
import torch
from torch import nn
from somewhere import Trainer


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        return self.layer(x).pow(2).mean()


scorer = Scorer()
Trainer(scorer).fit()
total, scores = 0.0, []
for x in torch.randn(40, 2, 4):
    score = scorer(x)
    total = total + score
    scores.append(score)
print(total / 40, sum(scores) / len(scores))
"""


def test_what_the_program_itself_keeps_of_a_network_is_its_own() -> None:
    result = check(Source.from_text(OUTSIDE, "program.py"), CheckOptions())
    assert [finding.code for finding in result.findings] == ["AD101", "AD102"]


BY_HOOK = """\
import torch
from torch import nn
from somewhere import Trainer


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)
        self.seen = []

    def forward(self, x):
        loss = self.layer(x).pow(2).mean()
        self.seen.append(loss)
        return loss


scorer = Scorer()
{line}optimizer = torch.optim.SGD(scorer.parameters(), lr=0.1)
for x in torch.randn(40, 2, 4):
    optimizer.zero_grad()
    scorer(x).backward()
    optimizer.step()
print(torch.stack(scorer.seen).mean())
"""


@pytest.mark.parametrize("line", ["", "Trainer(scorer)\n"])
def test_what_each_pass_has_freed_nobody_needs(line: str) -> None:
    result = check(Source.from_text(BY_HOOK.format(line=line), "program.py"), CheckOptions())
    assert [finding.code for finding in result.findings] == ["AD102"]


QUEUED = """\
import torch
from torch import nn
from somewhere import *


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.other = nn.Linear(8, 8)
        self.queue = []

    def forward(self, x):
        self.queue.append(self.other(x).tanh())
        return self.layer(x)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
{line}
for x in torch.randn(40, 2, 8):
    optimizer.zero_grad()
    {made}.pow(2).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("Shadow(net)", ["AD102"]),
        ("enrich(net)", ["AD102"]),
        ("optimizer = sgd_of(net)", ["AD102"]),
        ("fit(net, [1, 2])", []),
        ("Trainer(net)", []),
        ("StepByStep(net, nn.MSELoss(), optimizer)", []),
    ],
)
def test_a_network_is_trained_by_the_loop_that_does_so(line: str, codes: list[str]) -> None:
    result = check(Source.from_text(QUEUED.format(line=line, made="net(x)"), "program.py"), CheckOptions())
    assert [finding.code for finding in result.findings] == codes


def test_a_loop_that_trains_another_network_does_not_train_it() -> None:
    line = "Shadow(net)\nsmall = nn.Linear(8, 8)\noptimizer = torch.optim.SGD(small.parameters(), lr=0.1)"
    source = Source.from_text(QUEUED.format(line=line, made="(net(x), small(x))[1]"), "program.py")
    assert not check(source, CheckOptions()).findings
