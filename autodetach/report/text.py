"""Findings for a person, a paragraph each."""

from __future__ import annotations

from collections.abc import Sequence

from autodetach.report import Located
from autodetach.report.paragraph import Paragraph


def render(findings: Sequence[Located], *, colour: bool, width: int | None) -> str:
    """A paragraph for each finding, an empty line between them."""
    paragraphs = (Paragraph(located, colour=colour, width=width).lines() for located in findings)
    return "\n".join("".join(f"{line}\n" for line in lines) for lines in paragraphs)
