"""Findings below the names of their files, and lines that fit a terminal."""

from __future__ import annotations

import re

import pytest
from report_samples import ALL, ODD_NAME, several_lines, two_files

from autodetach.report import OutputFormat, render
from autodetach.report.excerpt import display_width
from autodetach.report.wrap import wrapped


def grouped(colour: bool = False, width: int | None = None) -> str:
    return render(OutputFormat.GROUPED, ALL, colour=colour, width=width)


def test_every_file_has_one_heading() -> None:
    lines = grouped().splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == [f"{ODD_NAME}:", "latin.py:"]
    assert [line for line in lines if re.match(r"  \d", line) and ": AD" in line] == [
        "  2:11: AD101 accumulated-loss: `total` keeps 100% of <its> & graph",
        "  2:10: AD201 shared-graph: `loss` is walked twice",
        "  2:10: AD101 accumulated-loss: m",
    ]
    assert grouped().count("\n\n") == 2


def test_nothing_found() -> None:
    assert render(OutputFormat.GROUPED, [], colour=True, width=80) == ""


def test_headings_are_painted() -> None:
    assert f"\x1b[1m{ODD_NAME}:\x1b[0m\n" in grouped(colour=True)
    assert re.sub("\x1b\\[[0-9]*m", "", grouped(colour=True)) == grouped()


@pytest.mark.parametrize("output_format", [OutputFormat.TEXT, OutputFormat.GROUPED])
@pytest.mark.parametrize("width", [1, 40, 60, 100, 300])
@pytest.mark.parametrize("colour", [False, True])
def test_no_line_is_wider_than_the_terminal(output_format: OutputFormat, width: int, colour: bool) -> None:
    text = re.sub("\x1b\\[[0-9]*m", "", render(output_format, ALL, colour=colour, width=width))
    longest_word = max(map(display_width, text.split()))
    assert max(map(display_width, text.splitlines())) <= max(width, 40, longest_word + 6)
    # Nothing is lost but line breaks, unless a line of source is cut.
    whole = render(output_format, ALL, colour=False, width=None)
    assert "..." in text or text.split() == whole.split()


def test_lines_are_broken_between_words_and_go_on_indented() -> None:
    text = render(OutputFormat.TEXT, [two_files()], colour=False, width=44)
    assert text.splitlines()[:3] == [
        f"{ODD_NAME}:2:11: AD101",
        "    accumulated-loss: `total` keeps 100% of",
        "    <its> & graph",
    ]


def test_without_a_terminal_no_line_is_broken() -> None:
    located = several_lines()
    assert render(OutputFormat.TEXT, [located], colour=False).count("\n") == 4


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("   one two", ["   one two"]),
        ("a  b", ["a  b"]),
        ("日本 " * 9 + "日本", ["日本 " * 7 + "日本", "  日本 日本"]),
        ("x" * 50 + " y", ["x" * 50, "  y"]),
        (f"\x1b[1m{'x' * 30}\x1b[0m {'y' * 9} z", [f"\x1b[1m{'x' * 30}\x1b[0m {'y' * 9}", "  z"]),
    ],
)
def test_wrapped(text: str, lines: list[str]) -> None:
    assert wrapped(text, 40, 2) == lines
    assert wrapped(text, None, 2) == [text]
