"""Findings as a JSON list in the shape of ruff's; rows and columns count from 1, columns in characters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from autodetach.finding import Fix
from autodetach.report import Located
from autodetach.source import Source


def render(findings: Sequence[Located]) -> str:
    """One JSON list with an object for each finding."""
    return json.dumps([as_object(located) for located in findings], indent=2) + "\n"


def as_object(located: Located) -> dict[str, Any]:
    """A finding with its story and its fixes."""
    finding, source = located.finding, located.source
    steps = [(step, located.source_of(step.path).place_of_line(step.line)) for step in finding.story]
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "filename": located.path,
        "cell": source.place(finding.span.start).cell,
        "location": _place(source, finding.span.start),
        "end_location": _place(source, finding.span.end),
        "severity": finding.severity.value,
        "fix": _fix(finding.fix, located) if finding.fix else None,
        "alternatives": [_fix(fix, located) for fix in finding.alternatives],
        "story": [
            {
                "filename": located.path_of(step.path),
                "cell": at.cell,
                "row": step.line if at.cell is None else at.line,
                "text": step.text,
            }
            for step, at in steps
        ],
        "assumptions": list(finding.assumptions),
        **({"observed": list(finding.observed)} if finding.observed else {}),
    }


def _fix(fix: Fix, located: Located) -> dict[str, Any]:
    by_file = ((located.finding.path, fix.edits), *fix.elsewhere)
    return {
        "applicability": fix.applicability.value,
        "message": fix.message,
        "why_unsafe": fix.why_unsafe,
        **({"observed": list(fix.observed)} if fix.observed else {}),
        "edits": [
            {
                "filename": located.path_of(path),
                "cell": part.cell,
                "content": edit.replacement,
                "location": _place(part.source, edit.start),
                "end_location": _place(part.source, edit.end),
            }
            for path, edits in by_file
            for part in located.source_of(path).parts(edits)
            for edit in part.edits
        ],
    }


def _place(source: Source, offset: int) -> dict[str, int]:
    place = source.place(offset)
    return {"row": place.line, "column": place.column + 1}
