"""What is taken out leaves as many blank lines as stood on one side of it."""

from __future__ import annotations

import pytest

from autodetach.proving.blank_lines import without_surplus
from autodetach.source import Edit


def applied(text: str, *taken: str) -> str:
    edits = sorted(Edit(text.index(t), text.index(t) + len(t), "") for t in taken)
    for edit in reversed(without_surplus(text.encode(), edits)):
        text = text[: edit.start] + edit.replacement + text[edit.end :]
    return text


@pytest.mark.parametrize(
    ("text", "taken", "left"),
    [
        ("a\n\nb\n\nc\n", ["b\n"], "a\n\nc\n"),
        ("a\nb\n\nc\n", ["b\n"], "a\n\nc\n"),
        ("a\n\nb\nc\n", ["b\n"], "a\n\nc\n"),
        ("a\n\n\nb\n\nc\n", ["b\n"], "a\n\n\nc\n"),
        ("a\n\nb\n\n\nc\n", ["b\n"], "a\n\n\nc\n"),
        ("a\n\nb1\nb2\n\nc\n", ["b1\n", "b2\n"], "a\n\nc\n"),
        ("a\n \nb\n\t\nc\n", ["b\n"], "a\n \nc\n"),
        ("a\r\n\r\nb\r\n\r\nc\r\n", ["b\r\n"], "a\r\n\r\nc\r\n"),
        ("a\n\nb\n\n", ["b\n"], "a\n\n\n"),
        ("b\n\nc\n", ["b\n"], "\nc\n"),
        ("a\n\nb; d\n\nc\n", ["b; "], "a\n\nd\n\nc\n"),
    ],
)
def test_blank_lines_do_not_add_up(text: str, taken: list[str], left: str) -> None:
    assert applied(text, *taken) == left


def test_what_is_put_in_its_place_keeps_its_lines() -> None:
    edits = (Edit(3, 5, "d\n"),)
    assert without_surplus(b"a\n\nb\n\nc\n", edits) == edits


def test_no_edit_reaches_into_the_next() -> None:
    raw = b"a\n\nb\n\nc\n"
    for edits in ((Edit(3, 5, ""), Edit(5, 5, "d\n")), (Edit(3, 5, ""), Edit(6, 6, "d\n"))):
        assert without_surplus(raw, edits) == edits
