"""Fingerprints: the same for the same finding, others for others."""

from __future__ import annotations

import pytest

from autodetach.fingerprint import LENGTH, Mark, fingerprints, marked_text
from autodetach.source import Source, Span


def mark(text: str, needle: str, path: str = "a.py", code: str = "AD101") -> Mark:
    source = Source.from_bytes(text.encode(), path)
    start = source.raw.index(needle.encode())
    return Mark(path, code, marked_text(source, Span(start, start + len(needle.encode()))))


def test_marked_text_is_the_whole_lines_without_white_space() -> None:
    assert mark("a = 1\n\tb = f(x,\r\n  y)  # why\r\nc\n", "x,\r\n  y").text == "b=f(x,y)#why"
    assert mark("a\nb\n", "a\n").text == "a"  # the newline belongs to the line that it ends
    assert mark("a\nb\n", "").text == "a"
    assert mark("a\nb = é\nc\n", "b = é").text == "b=é"  # whose last byte is inside of a character


@pytest.mark.parametrize(
    "after",
    ["import os\n\n\ntotal = total + loss\n", "if x:\n    total = total + loss\n", "total=total+loss\r\n"],
)
def test_what_does_not_change_it(after: str) -> None:
    assert fingerprints([mark(after, "total")]) == fingerprints([mark("total = total + loss\n", "total")])


def test_what_changes_it() -> None:
    marks = [
        mark("total = total + loss\n", "total"),
        mark("total = total + loss\n", "total", path="b.py"),
        mark("total = total + loss\n", "total", code="AD102"),
        mark("total = total + loss2\n", "total"),
    ]
    assert len(set(fingerprints(marks))) == len(marks)


def test_equal_marks_are_told_apart_by_their_order() -> None:
    one, other = mark("x = 1\n", "x"), mark("y = 1\n", "y")
    first, second, third = fingerprints([one, other, one])
    assert len({first, second, third}) == 3
    assert fingerprints([other, one, one]) == [second, first, third]
    assert fingerprints([one]) == [first]


def test_they_are_the_same_tomorrow() -> None:
    """Baselines are files that stay: a change of this value makes all of them worthless."""
    (fingerprint,) = fingerprints([Mark("src/train.py", "AD101", "total+=loss")])
    assert fingerprint == "c8627bd4a79e1bf3401091a7ee405c31"
    assert len(fingerprint) == LENGTH


def test_names_that_are_no_text() -> None:
    assert fingerprints([Mark("\udcff.py", "AD101", "x")])
