"""Findings as people and programs read them: one module for each output format."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autodetach.finding import Finding
from autodetach.source import Source


class OutputFormat(str, enum.Enum):
    """The formats; a value is what the user types."""

    TEXT = "text"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Located:
    """A finding with the source that its spans count in, and the file: `shown` for people, `path` absolute.

    Of a program of several files, `root` is the absolute path of the one that was analysed, and `others` are all files
    that the finding speaks of, as it names them (the analysed one is the empty path).
    """

    finding: Finding
    source: Source
    shown: str
    path: str
    root: str = ""
    others: Mapping[str, Source] = field(default_factory=dict)

    def source_of(self, path: str) -> Source:
        """The source of a file that the finding names."""
        return self.source if path == self.finding.path else self.others[path]

    def path_of(self, path: str) -> str:
        """The absolute path of a file that the finding names."""
        return path or self.root or self.path

    def is_elsewhere(self, path: str) -> bool:
        """Whether a file that the finding names is another one than its own."""
        return path != self.finding.path


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
