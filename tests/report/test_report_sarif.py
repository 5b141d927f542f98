"""SARIF: read by two packages of others, one of them made from the published schema, and its fixes applied."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import pytest
import report_samples
from report_samples import ALL, FIXTURES, FOLDER, PATHS, PROBLEMS, fixed, fixes_of, two_files

from autodetach.finding import Finding, Severity
from autodetach.report import Located
from autodetach.report.paths import Paths
from autodetach.report.sarif import render
from autodetach.settings.selection import RULES
from autodetach.source import Source, Span

# Microsoft's object model: generated from sarif-schema-2.1.0.json, so that names and required properties are its own.
MODEL: Any = importlib.import_module("sarif_om")
# Somebody else's reader, which checks the types of what it knows.
READER: Any = importlib.import_module("sarif_pydantic").Sarif
# Which class of the model stands behind a property; those that are not here are plain values or free to be anything.
CLASSES = {
    "artifactChanges": "ArtifactChange",
    "artifactLocation": "ArtifactLocation",
    "codeFlows": "CodeFlow",
    "deletedRegion": "Region",
    "description": "Message",
    "driver": "ToolComponent",
    "fixes": "Fix",
    "fullDescription": "MultiformatMessageString",
    "help": "MultiformatMessageString",
    "insertedContent": "ArtifactContent",
    "invocations": "Invocation",
    "location": "Location",
    "message": "Message",
    "physicalLocation": "PhysicalLocation",
    "region": "Region",
    "replacements": "Replacement",
    "results": "Result",
    "rules": "ReportingDescriptor",
    "runs": "Run",
    "shortDescription": "MultiformatMessageString",
    "snippet": "ArtifactContent",
    "threadFlows": "ThreadFlow",
    "tool": "Tool",
    "toolExecutionNotifications": "Notification",
}
FREE = {"originalUriBaseIds", "partialFingerprints", "properties"}


def log_of(*findings: Located, paths: Paths = PATHS, **more: Any) -> dict[str, Any]:
    text = render(findings, more.get("problems", ()), paths)
    log: dict[str, Any] = json.loads(text)
    assert text.isascii() and text.endswith("}\n")
    model_of("SarifLog", log)
    read = READER.model_validate_json(text)
    assert json.loads(read.model_dump_json(by_alias=True, exclude_none=True)) == log
    return log


def results_of(*findings: Located) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = log_of(*findings)["runs"][0]["results"]
    return results


def model_of(name: str, value: dict[str, Any]) -> Any:
    """An object of Microsoft's model; raises where a property is not in the schema, or a required one is missing."""
    cls = getattr(MODEL, name)
    attributes = {attribute.metadata["schema_property_name"]: attribute.name for attribute in cls.__attrs_attrs__}
    made = {}
    for key, item in value.items():
        # In the locations of a thread flow there are steps, in all others locations.
        inner = ("ThreadFlowLocation" if name == "ThreadFlow" else "Location") if key == "locations" else None
        made[attributes[key]] = part_of(key, inner or CLASSES.get(key), item)
    return cls(**made)


def part_of(key: str, name: str | None, item: Any) -> Any:
    if isinstance(item, list):
        assert item, f"{key}: an empty list, where the schema wants one item at least, says nothing"
        assert [x for x in item if item.count(x) > 1] == [], f"{key}: items have to differ"
        return [part_of(key, name, one) for one in item]
    if isinstance(item, dict) and key not in FREE:
        assert name is not None, f"{key}: which class is this?"
        return model_of(name, item)
    return item


@pytest.mark.parametrize("broken", [{"line": 3}, {"deletedRegion": {"startLine": 1}, "insertedText": "x"}])
def test_the_model_would_complain(broken: dict[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError)):
        model_of("Replacement", broken)


def test_the_frame() -> None:
    log = log_of(*ALL)
    (run,) = log["runs"]
    assert log["version"] == "2.1.0" and log["$schema"].endswith("/sarif-schema-2.1.0.json")
    assert run["columnKind"] == "utf16CodeUnits"
    assert run["originalUriBaseIds"] == {"SRCROOT": {"uri": "file:///x/"}}
    assert run["invocations"] == [{"executionSuccessful": True}]


def test_nothing_found_is_a_log_without_results() -> None:
    text = render([], [], PATHS)
    assert json.loads(text)["runs"][0]["results"] == []
    assert READER.model_validate_json(text).runs[0].results == []


def test_every_rule_comes_with_its_page() -> None:
    rules = log_of(*ALL)["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted(rule.code for rule in RULES)
    pages = {rule.code: rule.page for rule in RULES}
    for rule in rules:
        assert rule["help"]["markdown"] == pages[rule["id"]]
        assert urlsplit(rule["helpUri"]).scheme == "https" and rule["helpUri"] in pages[rule["id"]]
        assert re.fullmatch("[A-Z][A-Za-z0-9]+", rule["name"])
        assert rule["fullDescription"]["text"].startswith("Reports ")
    for result in results_of(*ALL):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_places_are_relative_and_counted_in_utf16() -> None:
    first, second, _ = results_of(*ALL)
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "sub%20dir/a%2Cb%25%C3%A9.py", "uriBaseId": "SRCROOT"}
    assert place["region"] == {
        "startLine": 2,
        "startColumn": 12,  # the clef takes two units
        "endLine": 2,
        "endColumn": 32,
        "snippet": {"text": "total = total + loss"},
    }
    region = second["locations"][0]["physicalLocation"]["region"]
    assert [region[key] for key in ("startLine", "startColumn", "endLine", "endColumn")] == [2, 10, 3, 10]
    assert (first["level"], second["level"]) == ("error", "warning")


def test_a_file_elsewhere_has_a_uri_of_its_own() -> None:
    elsewhere = log_of(two_files(), paths=Paths("/x/sub dir", "/x/sub dir"))["runs"][0]["results"][0]
    steps = elsewhere["codeFlows"][0]["threadFlows"][0]["locations"]
    places = [step["location"]["physicalLocation"]["artifactLocation"] for step in steps]
    assert places == [{"uri": "a%2Cb%25%C3%A9.py", "uriBaseId": "SRCROOT"}, {"uri": "file:///x/lib/helper.py"}]


def test_the_story_is_a_code_flow_through_both_files() -> None:
    (result,) = results_of(two_files())
    ((flow,),) = (code_flow["threadFlows"] for code_flow in result["codeFlows"])
    told = [
        (
            unquote(step["location"]["physicalLocation"]["artifactLocation"]["uri"]),
            step["location"]["physicalLocation"]["region"],
            step["location"]["message"]["text"],
        )
        for step in flow["locations"]
    ]
    assert told == [
        (report_samples.ODD_NAME, {"startLine": 2}, "`loss` is made, in a loop"),
        ("lib/helper.py", {"startLine": 2}, "`y` is \x1bkept"),
    ]
    assert result["properties"] == {"assumptions": ["`f` returns a tensor"]}


def test_fixes_say_how_safe_they_are() -> None:
    (result,) = results_of(two_files())
    assert [fix["description"]["text"] for fix in result["fixes"]] == [
        "safe fix: take the number",
        "unsafe fix: cut it (why unsafe: gradients change)",
    ]
    assert "fixes" not in results_of(ALL[1])[0]


def applied(located: Located, fix: dict[str, Any]) -> dict[str, bytes]:
    """What the files are once a reader of the log has made the replacements, by absolute path."""
    sources = {located.path_of(path): source for path, source in located.others.items()} or {
        located.path: located.source
    }
    results = {}
    for change in fix["artifactChanges"]:
        path = unquote(urlsplit(urljoin(f"file://{FOLDER}/", change["artifactLocation"]["uri"])).path)
        source = sources[path]
        lines = [line.encode("utf-16-le") for line in source.text.splitlines(keepends=True)]

        def offset(line: int, column: int, lines: list[bytes] = lines) -> int:
            return sum(map(len, lines[: line - 1])) + 2 * (column - 1)

        text = b"".join(lines)
        for replacement in reversed(change["replacements"]):
            region = replacement["deletedRegion"]
            start = offset(region["startLine"], region["startColumn"])
            end = offset(region["endLine"], region["endColumn"])
            new = replacement.get("insertedContent", {"text": ""})["text"]
            text = text[:start] + new.encode("utf-16-le") + text[end:]
        results[path] = text.decode("utf-16-le").encode(source.encoding)
    return results


@pytest.mark.parametrize("located", [two_files(), report_samples.latin_fix()])
def test_fixes_do_what_the_tool_does(located: Located) -> None:
    (result,) = results_of(located)
    expected = [fixed(located, fix) for fix in fixes_of(located)]
    assert [applied(located, fix) for fix in result["fixes"]] == expected


REAL = (
    FIXTURES / "projects/src_layout/before/train.py",
    FIXTURES / "accumulated-loss/attribute_total.before.py",
    FIXTURES / "accumulated-loss/one_line_suites.before.py",
)


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_findings(path: Path) -> None:
    findings = report_samples.of_file(path)
    results = log_of(*findings, paths=Paths(str(path.parent), str(path.parent)))["runs"][0]["results"]
    assert findings and len(results) == len(findings)
    for located, result in zip(findings, results, strict=True):
        assert len(result["fixes"]) == len(fixes_of(located)) > 0
        assert len(result["codeFlows"][0]["threadFlows"][0]["locations"]) == len(located.finding.story)


def test_fingerprints_stay_when_lines_move() -> None:
    def prints(text: str) -> list[str]:
        source = Source.from_bytes(text.encode(), "a.py")
        found = [match.span() for match in re.finditer("LEAK", text)]
        findings = [Finding("AD101", "n", "m", Severity.ERROR, Span(*at)) for at in found]
        results = results_of(*(Located(finding, source, "a.py", "/x/a.py") for finding in findings))
        return [result["partialFingerprints"]["markedText/v1"] for result in results]

    before = prints("x = LEAK\ny = LEAK\nx = LEAK\n")
    assert len(set(before)) == 3
    assert prints("import os\nx = LEAK\n\nif x:\n    y = LEAK\n    x = LEAK\n") == before


def test_what_could_not_be_checked_is_told() -> None:
    (invocation,) = log_of(*ALL, problems=PROBLEMS)["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    first, second = invocation["toolExecutionNotifications"]
    assert first == {
        "level": "error",
        "message": {"text": "syntax error: <oops>"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "bad%2C1.py", "uriBaseId": "SRCROOT"},
                    "region": {"startLine": 3},
                }
            }
        ],
    }
    assert second["level"] == "warning"
    assert log_of(*ALL, problems=PROBLEMS[1:])["runs"][0]["invocations"][0]["executionSuccessful"] is True
