"""Findings for a person, below the name of their file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from autodetach.console import printable
from autodetach.report import Located
from autodetach.report.paragraph import Paragraph
from autodetach.report.wrap import bold

INDENT = "  "


def render(findings: Sequence[Located], *, colour: bool, width: int | None) -> str:
    """For each file its name, and indented below it a paragraph for each finding; empty lines between paragraphs."""
    return "\n".join(_blocks(findings, colour, None if width is None else width - len(INDENT)))


def _blocks(findings: Sequence[Located], colour: bool, width: int | None) -> Iterator[str]:
    for _, group in groupby(findings, key=lambda located: located.path):
        for number, located in enumerate(group):
            heading = "" if number else bold(f"{printable(located.shown)}:", colour) + "\n"
            lines = Paragraph(located, colour=colour, width=width).lines(with_path=False)
            yield heading + "".join(f"{INDENT}{line}\n" for line in lines)
