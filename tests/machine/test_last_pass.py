"""A graph that each pass computes for the next one: none follows the last, and only a test of that knows it."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.source import Source

PROGRAM = """
import torch
import torch.nn as nn
model = nn.Sequential(nn.Linear(4, 1), nn.Tanh())
def run(model, n, k=5):
    x = torch.zeros(4, requires_grad=True)
    out = model(x)
    for i in range(n):
        out.sum().backward()
        x.data = x.data + x.grad.data.sign()
        if {}:
            out = model(x)
run(model, 7)
"""


def _codes(test: str) -> list[str]:
    source = Source.from_text(PROGRAM.format(test), "program.py")
    return [finding.code for finding in check(source, CheckOptions()).findings]


@pytest.mark.parametrize("test", ["i != n - 1", "i < n - 1", "i + 1 < n", "i + 1 != n", "not i == n - 1"])
def test_none_follows_the_last_pass(test: str) -> None:
    assert _codes(test) == []


@pytest.mark.parametrize("test", ["i != k - 1", "i < k - 1"])
def test_others_may_be_false_in_any_pass(test: str) -> None:
    assert _codes(test) == ["AD302"]


ONCE = """
import torch
import torch.nn as nn
model = nn.Linear(4, 1)
def run(model, n, k=5):
    total = 0
    for i in range(n):
        total = total + model(torch.randn(4)).sum().pow(2)
        if {}:
            total.backward()
run(model, 7)
"""
LAST = "i == n - 1,i + 1 == n,n == (i + 1),i >= n - 1,n - 1 <= i,n - i == 1,n - i <= 1,not i < n - 1".split(",")


@pytest.mark.parametrize("test", LAST)
def test_what_is_done_in_the_last_pass_is_done_once(test: str) -> None:
    assert check(Source.from_text(ONCE.format(test), "program.py"), CheckOptions()).findings == ()


@pytest.mark.parametrize("test", ["i >= k - 1", "i + 1 >= k", "k - i <= 1", "n - i >= 1", "i + 1 <= n"])
def test_what_is_done_in_several_passes_is_done_again(test: str) -> None:
    findings = check(Source.from_text(ONCE.format(test), "program.py"), CheckOptions()).findings
    assert [finding.code for finding in findings] == ["AD302"]


@pytest.mark.parametrize("test", ["i != 0", "i > 0", "i >= 1", "i", "not i == 0", "not i < 1"])
@pytest.mark.parametrize("counts", ["range(n - 1, -1, -1)", "reversed(range(n))", "reversed(range(0, n))"])
def test_what_counts_down_comes_to_zero_last(test: str, counts: str) -> None:
    source = Source.from_text(PROGRAM.replace("range(n)", counts).format(test), "program.py")
    assert check(source, CheckOptions()).findings == ()


@pytest.mark.parametrize("test", ["i > 1", "i != k", "i >= 2"])
def test_what_counts_down_comes_to_others_before(test: str) -> None:
    source = Source.from_text(PROGRAM.replace("range(n)", "range(n - 1, -1, -1)").format(test), "program.py")
    assert [finding.code for finding in check(source, CheckOptions()).findings] == ["AD302"]


BY_HAND = """
import torch
import torch.nn as nn
def train(model, data):
    for epoch in range(3):
        start = model(data[0]).pow(2).mean()
        i = 0
        for x in data:
            {}
            loss = start * x.mean()
            if {}:
                loss.backward()
            else:
                loss.backward(retain_graph=True)
train(nn.Linear(4, 1), {})
"""
OF_KNOWN, OF_UNKNOWN = "torch.randn(4, 3, 4)", "load()"


@pytest.mark.parametrize("step", ["i += 1", "i = i + 1"])
@pytest.mark.parametrize("data", [OF_KNOWN, OF_UNKNOWN])
def test_what_is_counted_by_hand_comes_to_the_length_once(step: str, data: str) -> None:
    source = Source.from_text(BY_HAND.format(step, "i == len(data)", data), "program.py")
    assert check(source, CheckOptions()).findings == ()


@pytest.mark.parametrize("step", ["i += int(x.sum())", "i += 1; i -= 1"])
def test_what_does_not_count_may_be_equal_again(step: str) -> None:
    source = Source.from_text(BY_HAND.format(step, "i == 2", OF_UNKNOWN), "program.py")
    assert {finding.code for finding in check(source, CheckOptions()).findings} == {"AD201"}


UNDER_A_NAME = """
import sys
import torch
import torch.nn as nn
data = torch.load(sys.argv[1]) if len(sys.argv) > 1 else [torch.randn(3, 4) for _ in range(5)]
others = torch.load(sys.argv[2]) if len(sys.argv) > 2 else data
def train(model, data, others):
    total = len(data)
    last = total - 1
    for epoch in range(3):
        out = model(data[0]).pow(2).mean()
        i = {first}
        for {head}:
            {above}
            loss = out * x.mean()
            if {test}:
                loss.backward(retain_graph=True)
            else:
                loss.backward()
            {below}
train(nn.Linear(4, 1), data, others)
"""
COUNTED_ABOVE = "i != total,i < total,total > i,not i >= total,not i == total,i < len(data),i <= last".split(",")
COUNTED_BELOW = "i != total - 1,i + 1 < total,i < last,total - i > 1,not last == i,i + 2 <= len(data)".split(",")


def _told(
    test: str, head: str = "x in data", first: str = "0", above: str = "", below: str = "", set_to: str = ""
) -> bool:
    program = UNDER_A_NAME.format(test=test, head=head, first=first, above=above, below=below)
    program = program.replace("    last = total - 1", f"    {set_to}") if set_to else program
    codes = {finding.code for finding in check(Source.from_text(program, "program.py"), CheckOptions()).findings}
    assert codes <= {"AD201"}
    return bool(codes)


@pytest.mark.parametrize("test", COUNTED_ABOVE)
@pytest.mark.parametrize("head", ["x in data", "i, x in enumerate(data, 1)", "i, x in enumerate(data, start=1)"])
def test_what_counts_from_one_comes_to_the_length(test: str, head: str) -> None:
    assert not _told(test, head, above="i += 1" if head == "x in data" else "")


@pytest.mark.parametrize("test", COUNTED_BELOW)
@pytest.mark.parametrize("head", ["x in data", "i, x in enumerate(data)"])
def test_what_counts_from_zero_comes_to_one_less(test: str, head: str) -> None:
    assert not _told(test, head, below="i += 1" if head == "x in data" else "")


@pytest.mark.parametrize("test", COUNTED_ABOVE)
def test_what_begins_with_one_counts_from_one(test: str) -> None:
    assert not _told(test, first="1", below="i = i + 1")


@pytest.mark.parametrize("test", ["i != last", "i < last", "i != len(others)", "i <= len(others) - 1", "i > total"])
def test_what_another_number_is_compared_with_may_be_so_before(test: str) -> None:
    assert _told(test, above="i += 1")


def test_what_is_not_begun_anew_comes_to_the_length_once() -> None:
    assert _told("i < total", first="i", above="i += 1", set_to="i = 0")


@pytest.mark.parametrize("change", ["data = data + others", "total = len(others)"])
def test_what_is_set_anew_is_no_length_of_what_it_was(change: str) -> None:
    assert _told("i < total", above="i += 1", set_to=change)
