"""Findings as a SARIF 2.1.0 log: stories are code flows, fixes are replacements, and rules bring their pages.

Columns count from 1 in UTF-16 code units, as those editors count that show such logs, and a region ends before its end.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autodetach import __version__
from autodetach.finding import Fix, Problem, StoryStep
from autodetach.report import Located
from autodetach.report.paragraph import repair
from autodetach.report.paths import Paths, fingerprints_of
from autodetach.report.rulebook import known_rules, link, section
from autodetach.rules import Rule
from autodetach.source import Edit, Source

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
BASE = "SRCROOT"
FINGERPRINT = "markedText/v1"


def render(findings: Sequence[Located], problems: Sequence[Problem], paths: Paths) -> str:
    """One log with one run."""
    rules = known_rules()
    numbers = {rule.code: number for number, rule in enumerate(rules)}
    named = zip(findings, fingerprints_of(findings, paths), strict=True)
    run = {
        "tool": {
            "driver": {
                "name": "autodetach",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {BASE: {"uri": paths.folder_uri}},
        "invocations": [_invocation(problems, paths)],
        "results": [_Result(located, paths).as_object(numbers, fingerprint) for located, fingerprint in named],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    url = link(rule)
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": f"{rule.summary}."},
        "fullDescription": {"text": section(rule, "What it does") or rule.summary},
        "help": {"text": rule.page, "markdown": rule.page},
        **({"helpUri": url} if url else {}),
        "properties": {"tags": ["autograd", "pytorch"], "name": rule.name},
    }


def _invocation(problems: Sequence[Problem], paths: Paths) -> dict[str, Any]:
    notes = []
    for problem in problems:
        path = paths.absolute(problem.path)
        region = {} if problem.line is None else {"region": {"startLine": problem.line}}
        notes.append(
            {
                "level": "warning" if problem.partial else "error",
                "message": {"text": problem.message},
                "locations": [{"physicalLocation": {"artifactLocation": _artifact(path, paths), **region}}],
            }
        )
    done = all(problem.partial for problem in problems)
    return {"executionSuccessful": done, **({"toolExecutionNotifications": notes} if notes else {})}


class _Result:
    def __init__(self, located: Located, paths: Paths) -> None:
        self._located = located
        self._finding = located.finding
        self._paths = paths

    def as_object(self, rule_numbers: Mapping[str, int], fingerprint: str) -> dict[str, Any]:
        finding = self._finding
        fixes = [fix for fix in (finding.fix, *finding.alternatives) if fix and (fix.edits or fix.elsewhere)]
        number = rule_numbers.get(finding.code)
        result: dict[str, Any] = {
            "ruleId": finding.code,
            **({} if number is None else {"ruleIndex": number}),
            "level": finding.severity.value,
            "message": {"text": finding.message + "".join(f"; observed in the run: {o}" for o in finding.observed)},
            "locations": [self._marked()],
            "partialFingerprints": {FINGERPRINT: fingerprint},
        }
        if finding.story:
            steps = [self._step(step) for step in finding.story]
            result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
        if fixes:
            result["fixes"] = [self._fix(fix) for fix in fixes]
        said = {"assumptions": list(finding.assumptions), "observed": list(finding.observed)}
        if any(said.values()):
            result["properties"] = {name: texts for name, texts in said.items() if texts}
        return result

    def _marked(self) -> dict[str, Any]:
        source, span = self._located.source, self._finding.span
        region = {**_region(source, span.start, span.end), "snippet": {"text": source.text_of(span)}}
        return {"physicalLocation": {"artifactLocation": self._artifact(self._finding.path), "region": region}}

    def _step(self, step: StoryStep) -> dict[str, Any]:
        place = {"artifactLocation": self._artifact(step.path), "region": {"startLine": step.line}}
        return {"location": {"physicalLocation": place, "message": {"text": step.text}}}

    def _fix(self, fix: Fix) -> dict[str, Any]:
        by_file = ((self._finding.path, fix.edits), *fix.elsewhere)
        return {
            "description": {"text": repair(fix)},
            "artifactChanges": [
                {
                    "artifactLocation": self._artifact(path),
                    "replacements": _replacements(self._located.source_of(path), edits),
                }
                for path, edits in by_file
                if edits
            ],
        }

    def _artifact(self, path: str) -> dict[str, str]:
        return _artifact(self._located.path_of(path), self._paths)


def _artifact(path: str, paths: Paths) -> dict[str, str]:
    return {"uri": paths.uri(path), **({"uriBaseId": BASE} if paths.is_inside(path) else {})}


def _replacements(source: Source, edits: Iterable[Edit]) -> list[dict[str, Any]]:
    return [
        {
            "deletedRegion": _region(source, start, end),
            # What is written, so with the newlines of the file.
            **({"insertedContent": {"text": new.decode(source.encoding)}} if new else {}),
        }
        for start, end, new in source.splices(edits)
    ]


def _region(source: Source, start: int, end: int) -> dict[str, int]:
    first, last = source.position(start), source.position(end)
    return {
        "startLine": first.line,
        "startColumn": first.utf16 + 1,
        "endLine": last.line,
        "endColumn": last.utf16 + 1,
    }
