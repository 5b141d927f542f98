"""How `fix` goes from finding to finding: in rounds, each of which is proven on the program as it is by then."""

from __future__ import annotations

import pytest

from autodetach import fixing
from autodetach.checker import check
from autodetach.checks import CheckOptions, CheckResult
from autodetach.finding import Finding
from autodetach.fixing import MAX_MORE_ROUNDS, fix
from autodetach.source import Source

BEGIN = """\
import torch

net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
TRAIN = """

def train_{n}(data):
    total = 0
    for x in data:
        loss = net(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        {last}
    print(total)
"""


def program(last: str, count: int) -> Source:
    """So many training functions, whose loops end with a line."""
    text = BEGIN + "".join(TRAIN.format(n=n, last=last) for n in range(count))
    return Source.from_text(text, "train.py")


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Finding, ...]]:
    """The findings of each look at a program."""
    looks: list[tuple[Finding, ...]] = []

    def noted(*args: object, **named: object) -> CheckResult:
        result = check(*args, **named)  # type: ignore[arg-type]
        looks.append(result.findings)
        return result

    monkeypatch.setattr(fixing, "check", noted)
    return looks


def test_what_is_proven_together_is_applied_together(rounds: list[tuple[Finding, ...]]) -> None:
    count = MAX_MORE_ROUNDS + 6
    source = program("total += loss.data[0] + 2 * loss.data[0]", count)
    result = fix(source, CheckOptions(), unsafe=False)
    assert len(result.applied) == 2 * count
    assert not result.remaining and not result.problems
    assert [len(found) for found in rounds] == [2 * count, 0]
    assert result.source.text == program("total += loss.item() + 2 * loss.item()", count).text
    lines = [source.position(finding.span.start).line for finding in result.applied]
    assert sorted(set(lines)) == [n for n, line in enumerate(source.text.splitlines(), 1) if "data[0]" in line]


def test_there_are_as_many_rounds_as_findings(
    monkeypatch: pytest.MonkeyPatch, rounds: list[tuple[Finding, ...]]
) -> None:
    monkeypatch.setattr(fixing, "MAX_MORE_ROUNDS", 0)
    result = fix(program("loss.detach()", 4), CheckOptions(), unsafe=True)
    assert {finding.code for finding in result.applied} == {"AD402"}
    assert len(result.applied) == 4
    assert not result.problems
    assert [len(found) for found in rounds] == [4, 3, 2, 1, 0]


def test_what_is_kept_too_long_is_freed_at_once(rounds: list[tuple[Finding, ...]]) -> None:
    result = fix(program("total += loss", 4), CheckOptions(), unsafe=False)
    assert len(result.applied) == 4
    assert [len(found) for found in rounds] == [4, 0]
    assert result.source.text == program("total += loss.item()", 4).text


def test_where_one_cannot_be_freed_so_each_is_tried_by_itself(rounds: list[tuple[Finding, ...]]) -> None:
    text = program("total += loss", 2).text.replace("print(total)", "print(total.item())", 1)
    result = fix(Source.from_text(text, "train.py"), CheckOptions(), unsafe=False)
    assert [len(found) for found in rounds] == [2, 1, 0]
    assert result.source.text.count("total += loss.detach()") == 1
    assert result.source.text.count("total += loss.item()") == 1
