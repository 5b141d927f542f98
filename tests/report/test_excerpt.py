"""A line of source with a mark below it, whatever is in the line."""

from __future__ import annotations

import pytest

from autodetach.report.excerpt import MAX_COLUMNS, display, display_width, excerpt
from autodetach.source import Source, Span


def marked(code: str, text: str, *, encoding: str = "utf-8") -> tuple[str, str]:
    """The line and, below it, the mark, as they are printed."""
    raw = code.encode(encoding)
    source = Source.from_bytes(raw, "a.py")
    start = raw.index(text.encode(encoding))
    part = excerpt(source, Span(start, start + len(text.encode(encoding))))
    return part.text, " " * part.mark_start + "^" * part.mark_length


@pytest.mark.parametrize(
    ("code", "text", "line", "mark"),
    [
        ("x = 1\ntotal += loss\r\n", "loss", "total += loss", "         ^^^^"),
        ("\ttotal += loss", "total", "    total += loss", "    ^^^^^"),
        ("ab\tc", "c", "ab  c", "    ^"),
        ("日本 += loss", "loss", "日本 += loss", "        ^^^^"),
        ("日本 += loss", "日本", "日本 += loss", "^^^^"),
        ("x = 'e\u0301'; loss", "loss", "x = 'e\u0301'; loss", "         ^^^^"),
        ("x = '\x1b[2J'; loss", "loss", r"x = '\x1b[2J'; loss", " " * 15 + "^^^^"),
        ("x = '\u202e'; loss", "loss", r"x = '\u202e'; loss", " " * 14 + "^^^^"),
        ("\ufefftotal = loss", "loss", "total = loss", "        ^^^^"),
        ("f(a,\n  b)\n", "f(a,\n  b)", "f(a,", "^^^^"),
        ("f(a,  \n  b)\n", "(a,  \n  b)", "f(a,", " ^^^"),
        ("x\n\ny", "", "x", "^"),
    ],
)
def test_the_mark_stands_below_the_spot(code: str, text: str, line: str, mark: str) -> None:
    assert marked(code, text) == (line, mark)


def test_other_encodings() -> None:
    assert marked("# coding: latin-1\né = loss\n", "loss", encoding="latin-1") == ("é = loss", "    ^^^^")


def test_the_end_of_a_file_can_be_marked() -> None:
    part = excerpt(Source.from_bytes(b"x\n", "a.py"), Span(2, 2))
    assert (part.number, part.text, part.mark_start, part.mark_length) == (2, "", 0, 1)


@pytest.mark.parametrize("before", [0, 1, 70, 76, 149, 150, 1000, 1001])
@pytest.mark.parametrize("filler", ["x", "日", "\t"])
def test_of_a_long_line_the_part_around_the_spot_is_shown(before: int, filler: str) -> None:
    line, mark = marked(filler * before + "loss" + filler * 1000, "loss")
    assert display_width(line) <= MAX_COLUMNS + 6
    shown = line.expandtabs()
    position = shown.index("loss")
    assert mark == " " * display_width(shown[:position]) + "^^^^"


def test_a_mark_never_leaves_a_line_that_was_cut() -> None:
    line, mark = marked("f(" + "x" * 1000 + ")", "x" * 1000)
    assert len(mark) <= len(line)


def test_a_long_line_of_a_change_is_cut() -> None:
    assert display("x" * 1000) == "x" * MAX_COLUMNS + "..."
    assert display("\ta\x00  ") == r"    a\x00"
