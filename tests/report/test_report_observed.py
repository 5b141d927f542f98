"""What a run has shown is told in every report that tells assumptions."""

from __future__ import annotations

import json

from report_samples import PATHS, two_files

from autodetach.report import Located, json_, rdjson, sarif
from autodetach.report.paragraph import plain_details

SHOWN = "line 2: `step(x)` returned a tensor with history"


def sample(*, observed: bool) -> Located:
    located = two_files()
    if not observed:
        return located
    finding = located.finding
    assert finding.fix is not None
    return located._replace(
        finding=finding._replace(observed=(SHOWN,), assumptions=(), fix=finding.fix._replace(observed=(SHOWN,))),
    )


def test_text_tells_it_and_why_the_fix_is_safe() -> None:
    lines = plain_details(sample(observed=True))
    assert f"   observed in the run: {SHOWN}" in lines
    assert any(line.endswith("take the number (safe by what was observed in the run)") for line in lines)
    assert not any("observed" in line for line in plain_details(sample(observed=False)))


def test_json_has_it_where_there_is_something_to_tell() -> None:
    (told,) = json.loads(json_.render([sample(observed=True)]))
    assert told["observed"] == told["fix"]["observed"] == [SHOWN]
    (silent,) = json.loads(json_.render([sample(observed=False)]))
    assert "observed" not in silent
    assert "observed" not in silent["fix"]


def test_sarif_says_it_in_the_message_and_lists_it() -> None:
    (result,) = json.loads(sarif.render([sample(observed=True)], [], PATHS))["runs"][0]["results"]
    assert result["message"]["text"].endswith(f"; observed in the run: {SHOWN}")
    assert result["properties"] == {"observed": [SHOWN]}


def test_rdjson_says_it_below_the_message() -> None:
    (told,) = json.loads(rdjson.render([sample(observed=True)], PATHS))["diagnostics"]
    assert f"observed in the run: {SHOWN}" in told["message"].splitlines()
