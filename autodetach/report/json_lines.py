"""Findings as JSON, one object a line: the objects of the JSON format, for programs that read line by line."""

from __future__ import annotations

import json
from collections.abc import Sequence

from autodetach.report import Located
from autodetach.report.json_ import as_object


def render(findings: Sequence[Located]) -> str:
    """One line for each finding."""
    return "".join(json.dumps(as_object(located)) + "\n" for located in findings)
