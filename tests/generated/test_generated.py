"""A short campaign: programs that hypothesis draws and shrinks, and the fixed first programs of the long one."""

from __future__ import annotations

import sys
from collections import Counter
from functools import cache
from random import Random

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import HealthCheck, given, settings

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.examination import MAX_NESTING
from autodetach.source import Source

from . import compare as compare_module
from .compare import Outcome, compare
from .grammar import write
from .judge import judge
from .limits import limit
from .shrink import shrink

SEED = 1
CHUNKS, CHUNK = 8, 15


@pytest.fixture(autouse=True)
def settled() -> None:
    """What the tool and the judge would otherwise change while hypothesis looks on."""
    torch.set_num_threads(1)
    sys.setrecursionlimit(max(sys.getrecursionlimit(), MAX_NESTING))


def unexplained(source: str, outcome: Outcome) -> list[str]:
    return [f"{d.kind}: {d.detail}" for d in outcome.disagreements if limit(source, outcome, d) is None]


@cache
def program(number: int) -> tuple[str, Outcome]:
    source = write(Random(f"{SEED}/{number}"))
    return source, compare(source)


@settings(max_examples=40, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False).map(write))
def test_drawn_programs(source: str) -> None:
    assert unexplained(source, compare(source)) == [], source


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_first_programs_of_the_campaign(chunk: int) -> None:
    for number in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        source, outcome = program(number)
        assert unexplained(source, outcome) == [], source


def test_programs_are_right_and_wrong_in_many_ways() -> None:
    """Otherwise a tool that always says the same would do well."""
    faults = Counter(judge_only(number) for number in range(CHUNKS * CHUNK))
    assert 0.4 < faults["sound"] / (CHUNKS * CHUNK) < 0.75
    assert faults.keys() >= {"second", "version", "grows", "useless"}
    assert faults["other"] == 0


def judge_only(number: int) -> str:
    return Outcome(judge(write(Random(f"{SEED}/{number}"))), (), ()).fault


LEAKING = """\
import torch

net = torch.nn.Linear(3, 3)
total = 0.0
for step in range(5):
    loss = net(torch.randn(2, 3)).pow(2).sum()
    loss.backward()
    total = total + loss
print(total)
"""


def test_the_judge_tells_a_leak_from_its_repair() -> None:
    assert judge(LEAKING).growing == {5}
    assert judge(LEAKING.replace("+ loss", "+ loss.item()")).sound


def test_the_judge_tells_the_line_and_the_pass_of_an_error() -> None:
    source = LEAKING.replace("loss.backward()", "loss.backward()\n    if step == 3:\n        loss.backward()")
    error = judge(source).error
    assert error is not None
    assert (error.kind, error.line, error.number) == ("second", 9, 3)


def test_the_judge_tells_a_retain_in_vain() -> None:
    assert judge(LEAKING.replace("backward()", "backward(retain_graph=True)")).useless == {7}


def test_a_tool_that_says_nothing_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison sees what is missed."""
    quiet = check(Source.from_bytes(b"x = 1\n", "x.py"), CheckOptions())
    monkeypatch.setattr(compare_module, "remembered", lambda raw, options: quiet)
    assert [d.kind for d in compare(LEAKING).disagreements] == ["missed growth"]


def test_shrinking_keeps_what_matters() -> None:
    source = LEAKING.replace("total = 0.0", "total = 0.0\nother = []\nif other:\n    print(other)")
    shorter = shrink(source, lambda text: bool(judge(text).growing))
    assert "other" not in shorter
    assert judge(shorter).growing
