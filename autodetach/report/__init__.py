"""Findings as people and programs read them: one module for each output format."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping, Sequence

from autodetach.finding import Finding, Problem
from autodetach.named_tuples import NamedTuple
from autodetach.source import Source


class OutputFormat(str, enum.Enum):
    """The formats; a value is what the user types."""

    TEXT = "text"
    CONCISE = "concise"
    GROUPED = "grouped"
    JSON = "json"
    JSON_LINES = "json-lines"
    GITHUB = "github"
    GITLAB = "gitlab"
    SARIF = "sarif"
    JUNIT = "junit"
    RDJSON = "rdjson"


# In a narrower terminal lines go on over its edge, which reads better than a word a line.
MIN_WIDTH = 40
# Programs that read these can offer a choice of repairs; a person who reads a report wants one.
WITH_ALTERNATIVES = {OutputFormat.JSON, OutputFormat.JSON_LINES, OutputFormat.SARIF, OutputFormat.RDJSON}
# Counts are no findings: only formats without a schema of their own can hold them.
WITH_STATISTICS = (
    OutputFormat.TEXT,
    OutputFormat.CONCISE,
    OutputFormat.GROUPED,
    OutputFormat.JSON,
    OutputFormat.JSON_LINES,
)
# Services that look for files from the top of the checkout, whatever folder a job has gone to.
_CHECKOUT = {
    OutputFormat.GITHUB: "GITHUB_WORKSPACE",
    OutputFormat.SARIF: "GITHUB_WORKSPACE",
    OutputFormat.GITLAB: "CI_PROJECT_DIR",
}


class Located(NamedTuple):
    """A finding with the source that its spans count in, and the file: `shown` for people, `path` absolute.

    Of a program of several files, `root` is the absolute path of the one that was analysed, and `others` are all files
    that the finding speaks of, as it names them (the analysed one is the empty path).
    """

    finding: Finding
    source: Source
    shown: str
    path: str
    root: str = ""
    others: Mapping[str, Source] = {}

    def source_of(self, path: str) -> Source:
        """The source of a file that the finding names."""
        return self.source if path == self.finding.path else self.others[path]

    def path_of(self, path: str) -> str:
        """The absolute path of a file that the finding names."""
        return path or self.root or self.path

    def is_elsewhere(self, path: str) -> bool:
        """Whether a file that the finding names is another one than its own."""
        return path != self.finding.path


def render(
    output_format: OutputFormat,
    findings: Sequence[Located],
    *,
    colour: bool,
    width: int | None = None,
    problems: Sequence[Problem] = (),
) -> str:
    """The whole output for these findings, in their order, with a newline at its end unless it is empty.

    `width` is that of the terminal, None where there is none. `problems` are what kept files from being checked.
    """
    if width is not None:
        width = max(width, MIN_WIDTH)
    # Only the format that is asked for is loaded.
    if output_format is OutputFormat.TEXT:
        if not findings:
            return ""
        from autodetach.report import text

        return text.render(findings, colour=colour, width=width)
    if output_format is OutputFormat.CONCISE:
        from autodetach.report import concise

        return concise.render(findings, colour=colour)
    if output_format is OutputFormat.GROUPED:
        from autodetach.report import grouped

        return grouped.render(findings, colour=colour, width=width)
    if output_format is OutputFormat.JSON:
        from autodetach.report import json_

        return json_.render(findings)
    if output_format is OutputFormat.JSON_LINES:
        from autodetach.report import json_lines

        return json_lines.render(findings)
    return _for_services(output_format, findings, problems)


def _for_services(output_format: OutputFormat, findings: Sequence[Located], problems: Sequence[Problem]) -> str:
    from autodetach.report.in_file import in_file, problem_in_file
    from autodetach.report.paths import Paths

    findings, problems = [in_file(one) for one in findings], [problem_in_file(one) for one in problems]
    paths = Paths.of(os.getcwd(), os.environ.get(_CHECKOUT.get(output_format, ""), ""))
    if output_format is OutputFormat.GITHUB:
        from autodetach.report import github

        return github.render(findings, problems, paths)
    if output_format is OutputFormat.GITLAB:
        from autodetach.report import gitlab

        return gitlab.render(findings, paths)
    if output_format is OutputFormat.SARIF:
        from autodetach.report import sarif

        return sarif.render(findings, problems, paths)
    if output_format is OutputFormat.JUNIT:
        from autodetach.report import junit

        return junit.render(findings, problems, paths)
    from autodetach.report import rdjson

    return rdjson.render(findings, paths)


def render_statistics(output_format: OutputFormat, findings: Sequence[Located], *, colour: bool) -> str:
    """How many findings there are of each rule, for a format of WITH_STATISTICS."""
    from autodetach.report import statistics

    if output_format is OutputFormat.JSON:
        return statistics.as_json(findings)
    if output_format is OutputFormat.JSON_LINES:
        return statistics.as_json_lines(findings)
    return statistics.as_text(findings, colour=colour)
