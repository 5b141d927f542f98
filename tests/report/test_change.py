"""What edits do to lines."""

from __future__ import annotations

import pytest

from autodetach.report.change import ChangedLines, changed_lines
from autodetach.source import Edit, Source

CODE = "one\ntwo\nthree\nfour\nfive\n"


def at(text: str) -> int:
    return CODE.index(text)


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ([Edit(at("two"), at("two") + 3, "2")], [ChangedLines(2, ("two",), ("2",))]),
        ([Edit(at("two"), at("two"), "new\n")], [ChangedLines(2, (), ("new",))]),
        ([Edit(at("two"), at("three"), "")], [ChangedLines(2, ("two",), ())]),
        ([Edit(at("two"), at("four"), "2\n3\n")], [ChangedLines(2, ("two", "three"), ("2", "3"))]),
        (
            [Edit(0, 1, "O"), Edit(at("three"), at("three") + 1, "T")],
            [ChangedLines(1, ("one",), ("One",)), ChangedLines(3, ("three",), ("Three",))],
        ),
        ([Edit(0, 1, "O"), Edit(at("two"), at("two") + 1, "T")], [ChangedLines(1, ("one", "two"), ("One", "Two"))]),
        (
            [Edit(at("two"), at("two") + 1, "T"), Edit(at("two") + 2, at("two") + 3, "O")],
            [ChangedLines(2, ("two",), ("TwO",))],
        ),
        (
            [Edit(0, at("two"), ""), Edit(at("five"), at("five"), "one\n")],
            [ChangedLines(1, ("one",), ()), ChangedLines(5, (), ("one",))],
        ),
        ([Edit(len(CODE), len(CODE), "six\n")], [ChangedLines(6, (), ("six",))]),
        ([Edit(0, 3, "one")], []),
        ([], []),
    ],
)
def test_changed_lines(edits: list[Edit], expected: list[ChangedLines]) -> None:
    assert list(changed_lines(Source.from_bytes(CODE.encode(), "a.py"), edits)) == expected


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
def test_newlines_and_encodings_do_not_show(newline: str) -> None:
    text = f"# coding: latin-1{newline}é = 1{newline}b = 2"
    source = Source.from_bytes(text.encode("latin-1"), "a.py")
    end = len(source.raw)
    assert changed_lines(source, [Edit(end, end, "2\nç")]) == (ChangedLines(3, ("b = 2",), ("b = 22", "ç")),)
