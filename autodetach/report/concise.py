"""Findings for a person, or a program that knows what compilers print: a line each."""

from __future__ import annotations

from collections.abc import Sequence

from autodetach.report import Located
from autodetach.report.paragraph import Paragraph


def render(findings: Sequence[Located], *, colour: bool) -> str:
    """`path:line:column: CODE name: message` for each finding; columns count characters from 1.

    `(fixable)` stands behind what `fix` repairs, `(unsafe fix)` behind what it repairs with `--unsafe-fixes`.
    """
    return "".join(f"{Paragraph(located, colour=colour, width=None).headline()}\n" for located in findings)
