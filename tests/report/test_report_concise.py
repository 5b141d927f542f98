"""A line for each finding."""

from __future__ import annotations

import re

from report_samples import ALL, ODD_NAME

from autodetach.report import OutputFormat, render


def test_a_line_for_each_finding() -> None:
    lines = render(OutputFormat.CONCISE, ALL, colour=False, width=40).splitlines()
    assert len(lines) == len(ALL)
    assert lines[0].startswith(f"{ODD_NAME}:2:11: AD101 accumulated-loss: `total` keeps 100% of <its> & graph")


def test_whether_there_is_a_repair() -> None:
    lines = render(OutputFormat.CONCISE, ALL, colour=False).splitlines()
    endings = {"safe": " (fixable)", "unsafe": " (unsafe fix)", None: ""}
    for line, located in zip(lines, ALL, strict=True):
        fix = located.finding.fix
        assert line.endswith(endings[None if fix is None else fix.applicability.value])
        assert ("fix" in line.rpartition(" (")[2]) == (fix is not None)


def test_colours_are_no_other_text() -> None:
    painted = render(OutputFormat.CONCISE, ALL, colour=True)
    assert painted != re.sub("\x1b\\[[0-9]*m", "", painted) == render(OutputFormat.CONCISE, ALL, colour=False)


def test_nothing_found() -> None:
    assert render(OutputFormat.CONCISE, [], colour=True, width=80) == ""
