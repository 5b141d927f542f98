"""What is found in a file as plain lists that JSON can hold, and back."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from autodetach.finding import Applicability, Finding, Fix, Problem, Severity, StoryStep
from autodetach.named_tuples import NamedTuple
from autodetach.source import Edit, Span
from autodetach.uses import Uses


class Record(NamedTuple):
    """What was found in a file before anybody chose among it; see `task.Outcome` and `checker.CheckResult`.

    Of the problems, the path is that of the file, and not kept. `has_comments`: some may be for this tool.
    """

    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    imported: tuple[str, ...] = ()
    used: frozenset[tuple[str, int]] = frozenset()
    has_comments: bool = False
    uses: Mapping[str, Uses] = MappingProxyType({})


def packed(record: Record) -> list[Any]:
    """The record as lists, strings, numbers and None."""
    return [
        [_finding(finding) for finding in record.findings],
        [[p.message, p.line, p.partial, p.cell, p.around] for p in record.problems],
        list(record.imported),
        sorted(record.used),
        record.has_comments,
        [[path, *(f"{lines:x}" for lines in uses)] for path, uses in sorted(record.uses.items())],
    ]


def unpacked(data: Any, shown: str) -> Record:
    """The record behind these lists, the file being called `shown`. Raises ValueError or TypeError if it is none."""
    findings, problems, imported, used, has_comments, uses = data
    return Record(
        tuple(_to_finding(item) for item in findings),
        tuple(Problem(shown, *problem) for problem in problems),
        tuple(imported),
        frozenset((path, mark) for path, mark in used),
        has_comments,
        {path: Uses(*(int(lines, 16) for lines in rest)) for path, *rest in uses},
    )


def _finding(finding: Finding) -> list[Any]:
    return [
        finding.code,
        finding.name,
        finding.message,
        finding.severity.value,
        [finding.span.start, finding.span.end],
        [[step.line, step.text, step.path] for step in finding.story],
        list(finding.assumptions),
        None if finding.fix is None else _fix(finding.fix),
        [_fix(fix) for fix in finding.alternatives],
        finding.path,
    ]


def _to_finding(data: Any) -> Finding:
    code, name, message, severity, (start, end), story, assumptions, fix, alternatives, path = data
    return Finding(
        code,
        name,
        message,
        Severity(severity),
        Span(start, end),
        tuple(StoryStep(line, text, at) for line, text, at in story),
        tuple(assumptions),
        None if fix is None else _to_fix(fix),
        tuple(_to_fix(one) for one in alternatives),
        path,
    )


def _fix(fix: Fix) -> list[Any]:
    elsewhere = [[path, _edits(edits)] for path, edits in fix.elsewhere]
    return [fix.message, fix.applicability.value, _edits(fix.edits), fix.why_unsafe, elsewhere]


def _to_fix(data: Any) -> Fix:
    message, applicability, edits, why_unsafe, elsewhere = data
    others = tuple((path, _to_edits(inner)) for path, inner in elsewhere)
    return Fix(message, Applicability(applicability), _to_edits(edits), why_unsafe, others)


def _edits(edits: tuple[Edit, ...]) -> list[Any]:
    return [[edit.start, edit.end, edit.replacement] for edit in edits]


def _to_edits(data: Any) -> tuple[Edit, ...]:
    return tuple(Edit(start, end, text) for start, end, text in data)
