"""Findings as failed tests, in the XML of JUnit as CI servers read it: a suite for each file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from autodetach.console import printable
from autodetach.finding import Problem
from autodetach.report import Located
from autodetach.report.paragraph import Paragraph
from autodetach.report.paths import Paths

# The few characters that are printable, but are not in XML.
_NOT_IN_XML = re.compile("[\ufffe\uffff]")


def render(findings: Sequence[Located], problems: Sequence[Problem], paths: Paths) -> str:
    """The whole document; where nothing is found, it holds one test that has passed."""
    failed = [problem for problem in problems if not problem.partial]
    suites: dict[str, list[Located | Problem]] = {}
    for problem in failed:
        suites.setdefault(paths.name_of_shown(problem.path), []).append(problem)
    for located in findings:
        suites.setdefault(paths.name(located.path), []).append(located)
    counts = _counts([*failed, *findings] or [None])
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f'<testsuites name="autodetach" {counts} time="0">']
    for name, cases in suites.items():
        lines.append(f'  <testsuite name={_attribute(name)} {_counts(cases)} skipped="0" time="0">')
        for case in cases:
            lines += _of_problem(case, name) if isinstance(case, Problem) else _of_finding(case, name)
        lines.append("  </testsuite>")
    if not suites:
        lines.append(f'  <testsuite name="autodetach" {counts} skipped="0" time="0">')
        lines.append('    <testcase name="No findings" classname="autodetach" time="0"/>')
        lines.append("  </testsuite>")
    lines.append("</testsuites>")
    text = "".join(f"{line}\n" for line in lines)
    # Whatever the encoding of standard output is, the document has the one that it says.
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _counts(cases: Sequence[Located | Problem | None]) -> str:
    errors = sum(isinstance(case, Problem) for case in cases)
    failures = sum(isinstance(case, Located) for case in cases)
    return f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'


def _of_finding(located: Located, file: str) -> Iterator[str]:
    finding = located.finding
    start = located.source.position(finding.span.start)
    name = f"{finding.code} {finding.name}, line {start.line}, column {start.character + 1}"
    yield _case(name, file, start.line)
    text = _text("\n".join(Paragraph(located).lines()))
    yield f"      <failure message={_attribute(finding.message)} type={_attribute(finding.code)}>{text}</failure>"
    yield "    </testcase>"


def _of_problem(problem: Problem, file: str) -> Iterator[str]:
    name = "cannot be checked" if problem.line is None else f"cannot be checked, line {problem.line}"
    yield _case(name, file, problem.line)
    yield f'      <error message={_attribute(problem.message)} type="error"/>'
    yield "    </testcase>"


def _case(name: str, file: str, line: int | None) -> str:
    classname = os.path.splitext(file)[0].replace("/", ".")
    at = "" if line is None else f' line="{line}"'
    names = f"name={_attribute(name)} classname={_attribute(classname)}"
    return f'    <testcase {names} file={_attribute(file)}{at} time="0">'


def _attribute(text: str) -> str:
    return quoteattr(_legal(printable(text)))


def _text(text: str) -> str:
    return escape(_legal("\n".join(map(printable, text.split("\n")))))


def _legal(text: str) -> str:
    return _NOT_IN_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
