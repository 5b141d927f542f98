"""What trains elsewhere in a program, or is only shown, speaks for nothing: what grows for nobody is told."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

HEAD = """
import threading
import torch
from torch import nn

model = nn.Linear(4, 4)
crit = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = [(torch.randn(8, 4), torch.randn(8, 4)) for _ in range(20)]
"""
EVALUATED = """
def evaluate(optimizer=None):
    total, outs = 0.0, []
    for x, y in data:
        out = model(x)
        loss = crit(out, y)
        {inside}
        total += loss
        outs.append(out)
    return float(total), torch.cat(outs).argmax(1).tolist()
"""
TRAINED = """
def train(epochs=1):
    for x, y in data:
        optimizer.zero_grad()
        crit(model(x), y).backward()
        optimizer.step()
    return evaluate()
"""
SHOWN = """
def shown(loss):
    if not torch.isfinite(loss):
        raise ValueError({text})

errors = []
try:
    print(evaluate())
except Exception as error:
    errors.append(error)
"""
AGENT = """
class Agent:
    def update(self, loss):
        loss.backward()

class Meter:
    def update(self, loss):
        self.last = loss.item()

meter = Meter()
"""


def codes(text: str) -> set[str]:
    return {finding.code for finding in check(Source.from_text(text, "a.py"), CheckOptions()).findings}


@pytest.mark.parametrize(
    "rest",
    [
        "threading.Thread(target=train).start()",
        "import optuna\noptuna.create_study().optimize(train)",
        "ways = {'train': train, 'test': evaluate}\nways[input()]()",
        "print(evaluate())",
    ],
)
def test_a_function_that_trains_by_itself_is_handed_on(rest: str) -> None:
    assert codes(HEAD + TRAINED + EVALUATED.format(inside="pass") + rest) >= {"AD101", "AD102"}


def test_a_branch_trains_with_what_the_pass_has_made() -> None:
    inside = "if optimizer is not None:\n            loss.backward()\n            optimizer.step()"
    assert "AD102" in codes(HEAD + EVALUATED.format(inside=inside) + "print(evaluate())")


def test_another_class_has_a_method_of_that_name() -> None:
    text = HEAD + AGENT + EVALUATED.format(inside="meter.update(loss)") + "print(evaluate())"
    assert codes(text) >= {"AD101", "AD102"}


@pytest.mark.parametrize(
    "text", ['"loss %f" % loss', '"loss {}".format(loss)', 'f"loss {loss}"', '"loss " + str(loss)']
)
def test_the_text_of_an_error_holds_no_graph(text: str) -> None:
    assert codes(HEAD + EVALUATED.format(inside="shown(loss)") + SHOWN.format(text=text)) >= {"AD101", "AD102"}
