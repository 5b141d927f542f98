"""Settings of which nobody knows are the same wherever they are read; a path that breaks off proves no fix safe."""

from __future__ import annotations

import ast

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.finding import Applicability
from autodetach.machine.exploring import analyse
from autodetach.source import Source

SETTINGS = """
from lib import data, make, read
setup = {**vars(read()), **read()}
second = None
if setup["two"]:
    second = make()
def train(loader, net):
    for x in loader:
        if setup["two"]:
            second.zero_grad()
        net(x).sum().backward()
        if not setup["two"]:
            continue
        second.step()
train(data(), make())
"""

BROKEN_OFF = """
import torch
model = torch.nn.Linear(2, 1)
total = 0.0
for x in torch.randn(3, 4, 2):
    loss = model(x).sum()
    loss.backward()
    total += loss
average = total / 3
None.{ends}
print(average.item())
"""


def test_a_setting_has_one_value() -> None:
    runs = analyse(ast.parse(SETTINGS)).runs
    assert len(runs) > 1
    assert [fault.text for run in runs for fault in run.machine.broken_off] == []


def test_what_is_read_behind_the_end_is_not_known() -> None:
    whole = check(Source.from_text(BROKEN_OFF.replace("None.{ends}", ""), "whole.py"), CheckOptions())
    short = check(Source.from_text(BROKEN_OFF.format(ends="wait()"), "short.py"), CheckOptions())
    (one,), (other,) = whole.findings, short.findings
    assert one.fix is not None
    assert other.fix is not None
    assert one.fix.applicability is Applicability.SAFE
    assert ".detach()" in one.fix.message
    assert other.fix.applicability is Applicability.UNSAFE
