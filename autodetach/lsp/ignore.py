"""The comment that silences a finding, where its author would write it."""

from __future__ import annotations

import re
import tokenize
from dataclasses import replace

from autodetach.finding import Finding
from autodetach.source import Edit, Source, SourceError, Span
from autodetach.suppress import visible

_LIST = re.compile(r"#\s*autodetach\s*:\s*ignore\[(?P<codes>[^\]]*)\]", re.IGNORECASE)


def ignoring(source: Source, finding: Finding) -> tuple[Edit, ...]:
    """The edit that silences a finding of the source in its line; empty where no comment can do so."""
    line = _last_line(source, source.position(finding.span.start).line)
    if line is None:
        return ()
    text = source.line_text(line)
    begin = source.line_span(line).start
    listed = list(_LIST.finditer(text))
    if listed:
        at = listed[-1].end("codes")
        new = f", {finding.code}" if listed[-1]["codes"].strip() else finding.code
    else:
        at = len(text.rstrip())
        new = f"  # autodetach: ignore[{finding.code}]"
    offset = begin + len(text[:at].encode(source.encoding))
    edits = (Edit(offset, offset, new),)
    return edits if _silences(source, edits, finding) else ()


def _last_line(source: Source, line: int) -> int | None:
    """The line in which the statement around a line ends, or its header if it is a compound one."""
    lines = (source.line_text(n) + "\n" for n in range(1, source.line_count + 1))
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type == tokenize.NEWLINE and token.start[0] >= line:
                return token.start[0]
    except (tokenize.TokenError, SyntaxError):
        pass
    return None


def _silences(source: Source, edits: tuple[Edit, ...], finding: Finding) -> bool:
    try:
        edited = source.with_edits(edits)
    except (ValueError, SourceError):
        return False
    span = Span(*(source.map_offset(edits, offset) for offset in (finding.span.start, finding.span.end)))
    return not visible(edited, [replace(finding, span=span)])
