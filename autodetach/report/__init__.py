"""Findings as people and programs read them: one module for each output format."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from autodetach.finding import Finding
from autodetach.source import Source


class OutputFormat(str, enum.Enum):
    """The formats; a value is what the user types."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Located:
    """A finding with the source that its spans count in, and the file: `shown` for people, `path` absolute."""

    finding: Finding
    source: Source
    shown: str
    path: str


def render(output_format: OutputFormat, findings: Sequence[Located], *, colour: bool) -> str:
    """The whole output for these findings, in their order, with a newline at its end unless it is empty."""
    # Only the format that is asked for is loaded.
    if output_format is OutputFormat.JSON:
        from autodetach.report import json_

        return json_.render(findings)
    if not findings:
        return ""
    from autodetach.report import text

    return text.render(findings, colour=colour)
