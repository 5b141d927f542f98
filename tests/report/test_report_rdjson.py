"""rdjson: the messages of reviewdog (github.com/reviewdog/reviewdog, `proto/rdf/reviewdog.proto`), field by field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest
from report_samples import ALL, FIXTURES, ODD_NAME, PATHS, fixed, fixes_of, latin_fix, of_file, two_files

from autodetach.report import Located
from autodetach.report.paths import Paths
from autodetach.report.rdjson import render

# Of each message its fields with their types; a list stands for `repeated`, a set for the names of an enum.
MESSAGES: dict[str, dict[str, Any]] = {
    "DiagnosticResult": {"diagnostics": ["Diagnostic"], "source": "Source", "severity": "Severity"},
    "Diagnostic": {
        "message": str,
        "location": "Location",
        "severity": {"UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"},
        "source": "Source",
        "code": "Code",
        "suggestions": ["Suggestion"],
        "original_output": str,
        "related_locations": ["RelatedLocation"],
    },
    "Location": {"path": str, "range": "Range"},
    "RelatedLocation": {"message": str, "location": "Location"},
    "Range": {"start": "Position", "end": "Position"},
    "Position": {"line": int, "column": int},
    "Suggestion": {"range": "Range", "text": str},
    "Source": {"name": str, "url": str},
    "Code": {"value": str, "url": str},
}
REQUIRED = {
    "DiagnosticResult": {"diagnostics"},
    "Diagnostic": {"message", "location"},
    "Location": {"path"},
    "RelatedLocation": {"location"},
    "Range": {"start"},
    "Suggestion": {"range"},
}


def check(name: str, value: Mapping[str, Any]) -> None:
    assert REQUIRED.get(name, set()) <= set(value) <= set(MESSAGES[name])
    for key, item in value.items():
        kind = MESSAGES[name][key]
        for one in item if isinstance(kind, list) else [item]:
            inner = kind[0] if isinstance(kind, list) else kind
            if isinstance(inner, str):
                check(inner, one)
            elif isinstance(inner, set):
                assert one in inner
            else:
                assert type(one) is inner
                assert inner is not int or one >= 1


def diagnostics_of(*findings: Located, paths: Paths = PATHS) -> list[dict[str, Any]]:
    text = render(findings, paths)
    result = json.loads(text)
    check("DiagnosticResult", result)
    assert text.isascii() and result["source"] == {"name": "autodetach"}
    diagnostics: list[dict[str, Any]] = result["diagnostics"]
    return diagnostics


@pytest.mark.parametrize("broken", [{"path": 1}, {"file": "x"}, {"path": "x", "range": {"start": {"line": 0}}}])
def test_the_check_would_complain(broken: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        check("Location", broken)


def test_nothing_found() -> None:
    assert diagnostics_of() == []


def test_columns_count_bytes_of_utf8() -> None:
    first, second, _ = diagnostics_of(*ALL)
    assert first["location"] == {
        "path": ODD_NAME,
        "range": {"start": {"line": 2, "column": 15}, "end": {"line": 2, "column": 35}},
    }
    # The file is Latin-1: its é is one byte, but two in UTF-8.
    assert second["location"]["range"] == {"start": {"line": 2, "column": 11}, "end": {"line": 3, "column": 10}}
    assert (first["severity"], second["severity"]) == ("ERROR", "WARNING")


def test_the_story_and_the_rule() -> None:
    (diagnostic,) = diagnostics_of(two_files())
    assert diagnostic["code"]["value"] == "AD101" and urlsplit(diagnostic["code"]["url"]).scheme == "https"
    assert diagnostic["related_locations"] == [
        {
            "message": "`loss` is made, in a loop",
            "location": {"path": ODD_NAME, "range": {"start": {"line": 2}, "end": {"line": 2}}},
        },
        {
            "message": "`y` is \x1bkept",
            "location": {"path": "lib/helper.py", "range": {"start": {"line": 2}, "end": {"line": 2}}},
        },
    ]


def test_a_fix_of_several_files_is_told_but_not_suggested_by_halves() -> None:
    (diagnostic,) = diagnostics_of(two_files())
    assert diagnostic["message"].splitlines() == [
        "`total` keeps 100% of <its> & graph",
        "assumed: `f` returns a tensor",
        "safe fix: take the number (edits lib/helper.py)",
        "unsafe fix: cut it (why unsafe: gradients change)",
    ]
    # The second best alone would be taken for the best.
    assert diagnostic["suggestions"] == []
    assert diagnostics_of(ALL[1])[0]["suggestions"] == []


def applied(located: Located, suggestion: dict[str, Any]) -> bytes:
    """The file once a reader has taken a suggestion."""
    source = located.source
    lines = [line.encode() for line in source.text.splitlines(keepends=True)]

    def offset(position: dict[str, int]) -> int:
        return sum(map(len, lines[: position["line"] - 1])) + position["column"] - 1

    start, end = (offset(suggestion["range"][key]) for key in ("start", "end"))
    text = b"".join(lines)
    new: bytes = suggestion["text"].encode()
    return (text[:start] + new + text[end:]).decode().encode(source.encoding)


def in_one_file() -> Located:
    """Both repairs of the sample, the first one without its edit in the other file."""
    located = two_files()
    first, second = fixes_of(located)
    finding = located.finding._replace(fix=second, alternatives=(first._replace(elsewhere=()), first))
    return located._replace(finding=finding)


@pytest.mark.parametrize("located", [in_one_file(), latin_fix()])
def test_suggestions_do_what_the_tool_does(located: Located) -> None:
    (diagnostic,) = diagnostics_of(located)
    expected = [fixed(located, fix)[located.path] for fix in fixes_of(located) if not fix.elsewhere]
    assert expected and [applied(located, one) for one in diagnostic["suggestions"]] == expected


def test_the_message_says_which_suggestion_is_which() -> None:
    (diagnostic,) = diagnostics_of(in_one_file())
    assert diagnostic["message"].splitlines()[2:] == [
        "suggestion 1: unsafe fix: cut it (why unsafe: gradients change)",
        "suggestion 2: safe fix: take the number",
        "safe fix: take the number (edits lib/helper.py)",
    ]


def test_real_findings() -> None:
    found = 0
    for path in sorted((FIXTURES / "shared-graph").glob("*.before.py"))[:6]:
        findings = of_file(path)
        diagnostics = diagnostics_of(*findings, paths=Paths(str(path.parent), str(path.parent)))
        for located, diagnostic in zip(findings, diagnostics, strict=True):
            expected = [fixed(located, fix)[located.path] for fix in fixes_of(located)]
            assert [applied(located, one) for one in diagnostic["suggestions"]] == expected
            found += len(expected)
    assert found > 6
