"""A repair that is safe as a program is written, and not where one of its settings is written otherwise."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.source import Source

SUMMED = """\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
sgd = torch.optim.SGD(model.parameters(), 0.1)
{setting}


def learn({parameter}):
    error = 0.0
    for x in torch.randn(4, 8, 3):
        part = model(x).pow(2).mean()
        error += part
        if not ({test}):
            sgd.zero_grad()
            part.backward()
            sgd.step()
    {branch}
    return error / 4


print(f"{{learn({given}):.3f}}")
"""
STEP = "if {test}:\n        sgd.zero_grad()\n        error.backward()\n        sgd.step()"
KEPT = """\
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self, share=0.0):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.share = share
        self.terms = []

    def forward(self, x):
        h = self.layer(x).relu()
        self.terms.append(h.abs().mean())
        return h

    def mean_of_terms(self):
        mean = torch.stack(self.terms).mean()
        self.terms = []
        return mean


net = Net()
sgd = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.randn(4, 8, 3):
    loss = net(x).pow(2).mean()
    if net.share > 0:
        {branch}
    sgd.zero_grad()
    loss.backward()
    sgd.step()
print(len(net.terms))
"""
FROZEN = """\
import torch
from torch import nn

torch.manual_seed(0)
TUNED = False
body, head = nn.Linear(3, 4), nn.Linear(4, 1)
weights = list(head.parameters())
if TUNED:
    weights += list(body.parameters())
sgd = torch.optim.SGD(weights, 0.1)
seen = body(torch.randn(8, 3))
for _ in range(3):
    loss = head(seen).pow(2).mean()
    sgd.zero_grad()
    loss.backward()
    sgd.step()
"""


def summed(test: str, *, setting: str = "", parameter: str = "", given: str = "", branch: str = STEP) -> str:
    return SUMMED.format(
        setting=setting, parameter=parameter, test=test, given=given, branch=branch.replace("{test}", test)
    )


OTHERWISE = {
    "a parameter's default": summed("whole", parameter="whole=False"),
    "a constant that is passed": summed("whole", parameter="whole", given="False"),
    "a constant that is passed by name": summed("whole", parameter="*, whole", given="whole=False"),
    "a constant of the module": summed("WHOLE", setting="WHOLE = False"),
    "one of several": summed("WHOLE", setting="RATE, WHOLE = 0.1, False"),
    "a number": summed("every > 1", setting="every = 1"),
    "a word": summed('how == "whole"', setting='how = "parts"'),
    "a word of some": summed('how in ("whole", "all")', setting='how = "parts"'),
    "an entry": summed('settings["whole"]', setting='settings = {"whole": False}'),
    "an entry that may be missing": summed('settings.get("whole", False)', setting='settings = {"rate": 1}'),
    "a field": summed("Settings.whole", setting="class Settings:\n    whole: bool = False"),
    "a field that is handed on": summed(
        "run.whole",
        setting="class Run:\n    def __init__(self, settings):\n        self.whole = settings.get(\"whole\", False)\n"
        "\n\nrun = Run({})",
    ),
    "one of some words": summed('"whole" in ENDS', setting='ENDS = ["shown"]'),
    "nothing": summed("whole is not None", setting="whole = None"),
    "a test by name": summed("WHOLE", setting="EVERY = 1\nWHOLE = EVERY > 1"),
    "two tests": summed("WHOLE and EVERY > 1", setting="WHOLE, EVERY = False, 1"),
    "another test in front": summed(
        'HOW == "whole"', setting='HOW = "parts"', branch=f'if HOW == "parts":\n        pass\n    el{STEP}'
    ),
    "what is behind a return": summed(
        "WHOLE", setting="WHOLE = False", branch="if not WHOLE:\n        return error / 4\n    error.backward()"
    ),
    "a choice": summed("WHOLE", setting="WHOLE = False", branch="error.backward() if WHOLE else None"),
    "two operands": summed("WHOLE", setting="WHOLE = False", branch="WHOLE and error.backward()"),
    "a case": summed(
        'how == "whole"',
        setting='how = "parts"',
        branch='match how:\n        case "whole":\n            error.backward()',
    ),
    "a function that differentiates": summed(
        "WHOLE",
        setting="WHOLE = False\n\n\ndef walk(error):\n    error.backward()",
        branch="if WHOLE:\n        walk(error)",
    ),
    "a function chosen by a key": summed(
        'HOW == "whole"',
        setting='HOW = "parts"\n\n\ndef parts(error):\n    pass\n\n\ndef whole(error):\n    error.backward()\n\n\n'
        'ENDS = {"parts": parts, "whole": whole}',
        branch="ENDS[HOW](error)",
    ),
    "a weight": KEPT.format(branch="loss = loss + net.share * net.mean_of_terms()"),
    "what is trained": FROZEN,
}
ALIKE = {
    "it is only shown": summed("False", setting="LOUD = False", branch="if LOUD:\n        print(error / 4)"),
    "only its number is read": summed(
        "False", setting="LOUD = False", branch="if LOUD:\n        error = error.item() / 4"
    ),
    "something else is differentiated": summed(
        "False", setting="MORE = False", branch="if MORE:\n        model(torch.randn(2, 3)).sum().backward()"
    ),
    "it is looked at": KEPT.format(branch="print(sum(net.terms) / 4)"),
    "it is taken as a constant": KEPT.format(
        branch="loss = loss * (1 + net.share * net.mean_of_terms().item())"
    ),
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_a_setting_that_has_the_value_differentiated_makes_a_repair_unsafe(name: str) -> None:
    assert applicability(OTHERWISE[name]) == [Applicability.UNSAFE]


@pytest.mark.parametrize("name", ALIKE)
def test_a_setting_that_does_not_leaves_it_safe(name: str) -> None:
    assert applicability(ALIKE[name]) == [Applicability.SAFE]


def test_it_is_said_which_test_it_is() -> None:
    found = check(Source.from_bytes(OTHERWISE["a constant of the module"].encode(), "program.py"), CheckOptions())
    assert [f.fix.why_unsafe for f in found.findings if f.fix is not None] == [
        "it is trained where a setting is another one than is written in the program: see line 19"
    ]


def applicability(program: str) -> list[Applicability]:
    found = check(Source.from_bytes(program.encode(), "program.py"), CheckOptions()).findings
    return [finding.fix.applicability for finding in found if finding.fix is not None]
