"""Writes the comments that silence findings: one edit for each statement."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from autodetach.comments.suppress import Directive, directives, sift, statement_end
from autodetach.decoding import SourceError
from autodetach.finding import Finding
from autodetach.old_names import parsed
from autodetach.source import Edit, Source, Span


class NotSilenced(Exception):
    """A finding that no comment can be written for; the text says why."""


def ignoring(source: Source, findings: Sequence[Finding], reason: str = "") -> tuple[Edit, ...]:
    """Edits that silence these findings of a source, and change nothing else. Raises NotSilenced.

    The comment goes to the end of the statement: behind a comment that is there, and into one that already silences
    others by code.
    """
    by_statement: dict[tuple[int, int], list[str]] = {}
    for finding in findings:
        statement = statement_end(source, source.position(finding.span.start).line)
        if statement is None:
            raise NotSilenced(f"no statement for {finding.code}")
        codes = by_statement.setdefault(statement, [])
        codes += [finding.code] if finding.code not in codes else []
    known = directives(source)
    edits = tuple(
        _edit(source, first, end, sorted(codes), known, " ".join(reason.split()))
        for (first, end), codes in sorted(by_statement.items())
    )
    _verify(source, findings, edits)
    return edits


def _edit(source: Source, first: int, end: int, codes: Iterable[str], known: Iterable[Directive], reason: str) -> Edit:
    for d in known:
        if d.kind == "ignore" and d.first == first and d.codes is not None:
            have = [code.text for code in d.codes]
            more = ", ".join(code for code in codes if code not in have)
            at = d.codes[-1].end if d.codes else d.codes_end - 1
            return Edit(at, at, f", {more}" if d.codes else more)
    line = source.position(end).line
    span = source.line_span(line)
    # What stands behind the last token is blank, or a comment.
    text = source.line_text(line).rstrip()
    at = max(end, span.start + len(text.encode(source.encoding)))
    return Edit(at, at, f"  # autodetach: ignore[{', '.join(codes)}]{f' {reason}' if reason else ''}")


def _verify(source: Source, findings: Iterable[Finding], edits: tuple[Edit, ...]) -> None:
    """Hold the edited source to what was promised: the same program, and none of the findings visible."""
    try:
        edited = source.with_edits(edits)
        same = ast.dump(parsed(edited.text)) == ast.dump(parsed(source.text))
    except (SourceError, SyntaxError, ValueError) as error:
        raise NotSilenced(str(error)) from None
    moved = [
        f._replace(span=Span(*(source.map_offset(edits, at) for at in (f.span.start, f.span.end)))) for f in findings
    ]
    if not same or sift(edited, moved).visible:
        raise NotSilenced("a comment does not silence it there")
