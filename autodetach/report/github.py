"""Findings as workflow commands: GitHub Actions shows them beside the lines of a pull request.

Columns count from 1 in characters, the last one is part of the mark, and they are left out where a mark has several
lines, since GitHub refuses them there.
"""

from __future__ import annotations

from collections.abc import Sequence

from autodetach.console import printable
from autodetach.finding import Problem
from autodetach.report import Located
from autodetach.report.paragraph import plain_details
from autodetach.report.paths import Paths


def render(findings: Sequence[Located], problems: Sequence[Problem], paths: Paths) -> str:
    """A command for each finding and for each file that could not be checked."""
    return "".join([*(_of_problem(one, paths) for one in problems), *(_of_finding(one, paths) for one in findings)])


def _of_finding(located: Located, paths: Paths) -> str:
    finding, source = located.finding, located.source
    start, end = source.position(finding.span.start), source.position(finding.span.end)
    properties: dict[str, str | int] = {
        "title": f"autodetach ({finding.code} {finding.name})",
        "file": paths.name(located.path),
        "line": start.line,
        "endLine": end.line,
    }
    if start.line == end.line:
        properties["col"] = start.character + 1
        properties["endColumn"] = max(start.character + 1, end.character)
    place = f"{printable(located.shown)}:{start.line}:{start.character + 1}"
    message = f"{place}: {finding.code} {printable(finding.message)}"
    return _command(finding.severity.value, properties, "\n".join((message, *plain_details(located))))


def _of_problem(problem: Problem, paths: Paths) -> str:
    properties: dict[str, str | int] = {"title": "autodetach", "file": paths.name_of_shown(problem.path)}
    if problem.line is not None:
        properties["line"] = problem.line
    return _command("warning" if problem.partial else "error", properties, printable(problem.message))


def _command(name: str, properties: dict[str, str | int], message: str) -> str:
    written = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{name} {written}::{_data(message)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    shown = "".join(c if c in "\r\n" else printable(c) for c in text)
    return _data(shown).replace(":", "%3A").replace(",", "%2C")
