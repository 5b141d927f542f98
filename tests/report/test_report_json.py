"""The JSON format."""

from __future__ import annotations

import json
from typing import Any

from autodetach.finding import Applicability, Finding, Fix, Severity, StoryStep
from autodetach.report import Located, OutputFormat, render
from autodetach.source import Edit, Source, Span

SOURCE = Source.from_bytes("x = 1\né日 = total + loss\n".encode(), "a.py")
START = SOURCE.raw.index(b"total")


def finding(**changes: Any) -> Finding:
    values: dict[str, Any] = {
        "code": "AD101",
        "name": "accumulated-loss",
        "message": "`total` keeps its graph",
        "severity": Severity.ERROR,
        "span": Span(START, START + 5),
    }
    return Finding(**{**values, **changes})


def rendered(*findings: Finding) -> list[dict[str, Any]]:
    located = [Located(finding, SOURCE, "a.py", "/x/a.py") for finding in findings]
    result: list[dict[str, Any]] = json.loads(render(OutputFormat.JSON, located, colour=True))
    return result


def test_nothing_is_an_empty_list() -> None:
    assert render(OutputFormat.JSON, [], colour=False) == "[]\n"


def test_a_finding_with_everything() -> None:
    edits = (Edit(START, START + 5, "a\nb"), Edit(len(SOURCE.raw), len(SOURCE.raw), "c"))
    full = finding(
        story=(StoryStep(1, "`x` is made"), StoryStep(2, "and kept")),
        assumptions=("`f` returns a tensor",),
        fix=Fix("take the number", Applicability.SAFE, edits),
        alternatives=(Fix("cut it", Applicability.UNSAFE, (), "gradients change"),),
    )
    assert rendered(full, finding()) == [
        {
            "code": "AD101",
            "name": "accumulated-loss",
            "message": "`total` keeps its graph",
            "filename": "/x/a.py",
            "cell": None,
            "location": {"row": 2, "column": 6},
            "end_location": {"row": 2, "column": 11},
            "severity": "error",
            "fix": {
                "applicability": "safe",
                "message": "take the number",
                "why_unsafe": None,
                "edits": [
                    {
                        "filename": "/x/a.py",
                        "cell": None,
                        "content": "a\nb",
                        "location": {"row": 2, "column": 6},
                        "end_location": {"row": 2, "column": 11},
                    },
                    {
                        "filename": "/x/a.py",
                        "cell": None,
                        "content": "c",
                        "location": {"row": 3, "column": 1},
                        "end_location": {"row": 3, "column": 1},
                    },
                ],
            },
            "alternatives": [
                {"applicability": "unsafe", "message": "cut it", "why_unsafe": "gradients change", "edits": []}
            ],
            "story": [
                {"filename": "/x/a.py", "cell": None, "row": 1, "text": "`x` is made"},
                {"filename": "/x/a.py", "cell": None, "row": 2, "text": "and kept"},
            ],
            "assumptions": ["`f` returns a tensor"],
        },
        {
            "code": "AD101",
            "name": "accumulated-loss",
            "message": "`total` keeps its graph",
            "filename": "/x/a.py",
            "cell": None,
            "location": {"row": 2, "column": 6},
            "end_location": {"row": 2, "column": 11},
            "severity": "error",
            "fix": None,
            "alternatives": [],
            "story": [],
            "assumptions": [],
        },
    ]


def test_json_lines_are_the_same_objects_line_by_line() -> None:
    located = [Located(finding(message=message), SOURCE, "a.py", "/x/a.py") for message in ("a\nb", "c")]
    lines = render(OutputFormat.JSON_LINES, located, colour=True).splitlines()
    assert [json.loads(line) for line in lines] == json.loads(render(OutputFormat.JSON, located, colour=True))
    assert render(OutputFormat.JSON_LINES, [], colour=False) == ""
