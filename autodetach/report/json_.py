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
    return {
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "filename": located.path,
        "location": _place(source, finding.span.start),
        "end_location": _place(source, finding.span.end),
        "severity": finding.severity.value,
        "fix": _fix(finding.fix, located) if finding.fix else None,
        "alternatives": [_fix(fix, located) for fix in finding.alternatives],
        "story": [
            {"filename": located.path_of(step.path), "row": step.line, "text": step.text} for step in finding.story
        ],
        "assumptions": list(finding.assumptions),
    }


def _fix(fix: Fix, located: Located) -> dict[str, Any]:
    by_file = ((located.finding.path, fix.edits), *fix.elsewhere)
    return {
        "applicability": fix.applicability.value,
        "message": fix.message,
        "why_unsafe": fix.why_unsafe,
        "edits": [
            {
                "filename": located.path_of(path),
                "content": edit.replacement,
                "location": _place(located.source_of(path), edit.start),
                "end_location": _place(located.source_of(path), edit.end),
            }
            for path, edits in by_file
            for edit in edits
        ],
    }


def _place(source: Source, offset: int) -> dict[str, int]:
    position = source.position(offset)
    return {"row": position.line, "column": position.character + 1}
