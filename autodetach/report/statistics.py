"""How many findings there are of each rule, the most frequent first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autodetach.finding import Applicability
from autodetach.report import Located
from autodetach.report.wrap import bold


@dataclass(frozen=True, slots=True)
class Count:
    """The findings of one rule: how many, and how many of them have a safe, or an unsafe, fix."""

    code: str
    name: str
    total: int
    safe: int
    unsafe: int

    @property
    def mark(self) -> str:
        """Whether `fix` repairs all, some or none of them."""
        return "[*]" if self.safe == self.total else "[-]" if self.safe else "[ ]"


def counts(findings: Sequence[Located]) -> list[Count]:
    """One count for each rule that found something."""
    rules: dict[tuple[str, str], list[Applicability | None]] = {}
    for located in findings:
        finding = located.finding
        applicability = finding.fix.applicability if finding.fix is not None else None
        rules.setdefault((finding.code, finding.name), []).append(applicability)
    found = [
        Count(code, name, len(fixes), fixes.count(Applicability.SAFE), fixes.count(Applicability.UNSAFE))
        for (code, name), fixes in rules.items()
    ]
    return sorted(found, key=lambda count: (-count.total, count.code))


def as_text(findings: Sequence[Located], *, colour: bool) -> str:
    """A line for each rule, and what the marks mean."""
    found = counts(findings)
    if not found:
        return ""
    digits = len(str(found[0].total))
    lines = [f"{bold(f'{c.total:>{digits}}', colour)}  {bold(c.code, colour)}  {c.mark} {c.name}" for c in found]
    explained = {"[*]": "all", "[-]": "some"}
    marks = {count.mark for count in found}
    lines += [f"{mark} `autodetach fix` repairs {how}" for mark, how in explained.items() if mark in marks]
    return "".join(f"{line}\n" for line in lines)


def as_json(findings: Sequence[Located]) -> str:
    """A list with an object for each rule."""
    return json.dumps([_object(count) for count in counts(findings)], indent=2) + "\n"


def as_json_lines(findings: Sequence[Located]) -> str:
    """A line with an object for each rule."""
    return "".join(json.dumps(_object(count)) + "\n" for count in counts(findings))


def _object(count: Count) -> dict[str, Any]:
    return {
        "code": count.code,
        "name": count.name,
        "count": count.total,
        "fixable": count.safe == count.total,
        "fixable_count": count.safe,
        "unsafe_fixable_count": count.unsafe,
    }
