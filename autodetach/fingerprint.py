"""Names for findings that stay when lines move: reports and baselines know a finding again by them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from autodetach.source import Source, Span

LENGTH = 32


@dataclass(frozen=True, slots=True)
class Mark:
    """What identifies a finding: the path with slashes, relative to the folder of the report, the code, the text."""

    path: str
    code: str
    text: str


def marked_text(source: Source, span: Span) -> str:
    """The lines that a span touches, without any white space: indentation and line breaks are a matter of taste."""
    first, last = source.lines_of(span)
    return "".join("".join(source.line_text(line).split()) for line in range(first, last + 1))


def fingerprints(marks: Sequence[Mark]) -> list[str]:
    """A fingerprint for each mark, all different: equal marks are told apart by their order."""
    seen: dict[Mark, int] = {}
    found = []
    for mark in marks:
        ordinal = seen[mark] = seen.get(mark, -1) + 1
        identity = "\0".join((mark.path, mark.code, mark.text, str(ordinal)))
        found.append(hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH])
    return found
