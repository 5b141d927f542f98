"""GitLab Code Quality: the fields that docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format asks for.

The others are those of the specification that GitLab's format is a part of: github.com/codeclimate/platform,
`spec/analyzers/SPEC.md`, "Issues".
"""

from __future__ import annotations

import json
import re
from typing import Any

from report_samples import ALL, ODD_NAME, PATHS, two_files

from autodetach.finding import Finding, Severity
from autodetach.report import Located
from autodetach.report.gitlab import render
from autodetach.report.paths import Paths
from autodetach.source import Source, Span

REQUIRED = {"description", "check_name", "fingerprint", "severity", "location"}
SEVERITIES = {"info", "minor", "major", "critical", "blocker"}
CATEGORIES = set(
    "Bug Risk,Clarity,Compatibility,Complexity,Duplication,Performance,Security,Style".split(","),
)
OPTIONAL = {"type", "categories", "other_locations", "content"}


def issues_of(*findings: Located, paths: Paths = PATHS) -> list[dict[str, Any]]:
    text = render(findings, paths)
    assert text.startswith("[") and text.isascii()  # "a single JSON array", without a byte order mark
    issues: list[dict[str, Any]] = json.loads(text)
    for issue in issues:
        assert set(issue) >= REQUIRED and set(issue) <= REQUIRED | OPTIONAL
        assert all(isinstance(issue[key], str) for key in REQUIRED - {"location"})
        assert issue["severity"] in SEVERITIES
        assert issue["type"] == "issue"
        assert set(issue["categories"]) <= CATEGORIES
        assert isinstance(issue["content"]["body"], str)
        for location in (issue["location"], *issue["other_locations"]):
            assert set(location) == {"path", "lines"}
            assert not re.match(r"/|\./|\w:|\\", location["path"])  # "the relative path to the file"
            assert 1 <= location["lines"]["begin"] <= location["lines"]["end"]
    return issues


def test_the_documented_fields() -> None:
    issues = issues_of(*ALL)
    assert len({issue["fingerprint"] for issue in issues}) == len(ALL)
    assert [issue["severity"] for issue in issues] == ["critical", "minor", "minor"]
    assert issues[1]["location"] == {"path": "latin.py", "lines": {"begin": 2, "end": 3}}
    assert json.loads(render([], PATHS)) == []


def test_story_and_fix_are_inside() -> None:
    (issue,) = issues_of(two_files())
    assert issue["check_name"] == "AD101 accumulated-loss"
    assert issue["description"] == "`total` keeps 100% of <its> & graph (safe fix: take the number)"
    assert [(at["path"], at["lines"]["begin"]) for at in issue["other_locations"]] == [
        (ODD_NAME, 2),
        ("lib/helper.py", 2),
    ]
    assert "\n     2 - s = " in issue["content"]["body"]


def test_fingerprints_stay_when_lines_move() -> None:
    def prints(text: str) -> list[str]:
        source = Source.from_bytes(text.encode(), "a.py")
        span = Span(text.index("LEAK"), text.index("LEAK") + 4)
        located = Located(Finding("AD101", "n", "m", Severity.ERROR, span), source, "a.py", "/x/a.py")
        return [issue["fingerprint"] for issue in issues_of(located, located)]

    assert prints("x = LEAK\n") == prints("\n\nif x:\n    x = LEAK\n")
    assert not set(prints("x = LEAK\n")) & set(prints("y = LEAK\n"))


def test_paths_start_at_the_checkout() -> None:
    assert [issue["location"]["path"] for issue in issues_of(*ALL, paths=Paths.of("/x", "/"))][1] == "x/latin.py"
