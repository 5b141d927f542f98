"""Findings as a Code Quality report of GitLab, which is a part of the format of Code Climate."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from autodetach.finding import Severity
from autodetach.report import Located
from autodetach.report.paragraph import plain_details, repair
from autodetach.report.paths import Paths, fingerprints_of

_SEVERITY = {Severity.ERROR: "critical", Severity.WARNING: "minor"}


def render(findings: Sequence[Located], paths: Paths) -> str:
    """One JSON list with an object for each finding."""
    named = zip(findings, fingerprints_of(findings, paths), strict=True)
    return json.dumps([_issue(located, fingerprint, paths) for located, fingerprint in named], indent=2) + "\n"


def _issue(located: Located, fingerprint: str, paths: Paths) -> dict[str, Any]:
    finding, source = located.finding, located.source
    start, end = source.position(finding.span.start), source.position(finding.span.end)
    # GitLab shows the description and nothing else.
    fix = f" ({repair(finding.fix)})" if finding.fix is not None else ""
    return {
        "type": "issue",
        "check_name": f"{finding.code} {finding.name}",
        "description": finding.message + fix,
        "categories": ["Bug Risk" if finding.severity is Severity.ERROR else "Performance"],
        "severity": _SEVERITY[finding.severity],
        "fingerprint": fingerprint,
        "location": {"path": paths.name(located.path), "lines": {"begin": start.line, "end": end.line}},
        "other_locations": [
            {"path": paths.name(located.path_of(step.path)), "lines": {"begin": step.line, "end": step.line}}
            for step in finding.story
        ],
        "content": {"body": "\n".join(("```text", *plain_details(located), "```"))},
    }
