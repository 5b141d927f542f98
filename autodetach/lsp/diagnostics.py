"""Findings and problems as an editor shows them."""

from __future__ import annotations

from lsprotocol import types

from autodetach.finding import Problem, Severity
from autodetach.lsp.pages import link_to
from autodetach.lsp.places import Places
from autodetach.report import Located

SOURCE = "autodetach"
SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
}


def diagnostic_of(located: Located, places: Places, *, story: bool = True) -> types.Diagnostic:
    """A finding; its story is what is related to it, where the editor shows that."""
    finding = located.finding
    link = link_to(finding.code)
    related = [
        types.DiagnosticRelatedInformation(
            places.line(located.path_of(step.path), located.source_of(step.path), step.line), step.text
        )
        for step in finding.story
    ]
    return types.Diagnostic(
        places.location(located.path, located.source, finding.span.start, finding.span.end).range,
        finding.message,
        severity=SEVERITIES[finding.severity],
        code=finding.code,
        code_description=None if link is None else types.CodeDescription(link),
        source=SOURCE,
        related_information=related if story else None,
    )


def problem_of(problem: Problem, line: int) -> types.Diagnostic:
    """What kept a text from being analysed, shown in the given line (from 0)."""
    severity = types.DiagnosticSeverity.Information if problem.partial else types.DiagnosticSeverity.Error
    start = types.Position(line, 0)
    return types.Diagnostic(types.Range(start, start), problem.message, severity=severity, source=SOURCE)
