"""Findings in the diagnostic format of reviewdog, which makes suggestions of a review out of fixes.

Columns count from 1 in bytes of UTF-8, and a range ends before its end. A suggestion is one range of the file of the
finding, so edits of a fix become one that spans them; it has no text of its own, so the message tells what it is. A fix
that needs edits in another file is told, but not suggested; where that is the first, no other one is suggested.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from autodetach.finding import Fix, Severity
from autodetach.report import Located
from autodetach.report.paragraph import repair
from autodetach.report.paths import Paths
from autodetach.report.rulebook import links
from autodetach.source import Source

_SEVERITY = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING"}


def render(findings: Sequence[Located], paths: Paths) -> str:
    """One JSON object with all findings."""
    urls = links(located.finding.code for located in findings)
    result = {
        "source": {"name": "autodetach"},
        "diagnostics": [_diagnostic(located, paths, urls) for located in findings],
    }
    return json.dumps(result, indent=2) + "\n"


def _diagnostic(located: Located, paths: Paths, urls: dict[str, str]) -> dict[str, Any]:
    finding, source = located.finding, located.source
    code = {"value": finding.code} | ({"url": urls[finding.code]} if finding.code in urls else {})
    fixes = [fix for fix in (finding.fix, *finding.alternatives) if fix is not None]
    suggested = [fix for fix in fixes if not fix.elsewhere] if fixes and not fixes[0].elsewhere else []
    assumed = [f"assumed: {assumption}" for assumption in finding.assumptions]
    assumed += [f"observed in the run: {observation}" for observation in finding.observed]
    return {
        "message": "\n".join((finding.message, *assumed, *_told(fixes, suggested, located, paths))),
        "location": {
            "path": paths.name(located.path),
            "range": _range(source, finding.span.start, finding.span.end),
        },
        "severity": _SEVERITY[finding.severity],
        "code": code,
        "suggestions": [_suggestion(source, fix) for fix in suggested],
        "related_locations": [
            {
                "message": step.text,
                "location": {
                    "path": paths.name(located.path_of(step.path)),
                    "range": {"start": {"line": step.line}, "end": {"line": step.line}},
                },
            }
            for step in finding.story
        ],
    }


def _told(fixes: Sequence[Fix], suggested: Sequence[Fix], located: Located, paths: Paths) -> Iterator[str]:
    for fix in fixes:
        number = f"suggestion {suggested.index(fix) + 1}: " if fix in suggested and len(suggested) > 1 else ""
        files = ", ".join(paths.name(located.path_of(path)) for path, _ in fix.elsewhere)
        yield f"{number}{repair(fix)}" + (f" (edits {files})" if files else "")


def _suggestion(source: Source, fix: Fix) -> dict[str, Any]:
    splices = source.splices(fix.edits)
    first, last = splices[0][0], splices[-1][1]
    pieces, copied = [], first
    for start, end, new in splices:
        pieces += [source.raw[copied:start], new]
        copied = end
    return {"range": _range(source, first, last), "text": b"".join(pieces).decode(source.encoding)}


def _range(source: Source, start: int, end: int) -> dict[str, Any]:
    return {"start": _position(source, start), "end": _position(source, end)}


def _position(source: Source, offset: int) -> dict[str, int]:
    position = source.position(offset)
    if source.encoding == "utf-8":
        return {"line": position.line, "column": position.byte + 1}
    prefix = source.line_text(position.line)[: position.character]
    return {"line": position.line, "column": len(prefix.encode()) + 1}
