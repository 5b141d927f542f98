"""Comments that silence findings: `# noqa`, `# noqa: AD101`, `# autodetach: ignore`, `# autodetach: ignore[AD101] why`.

Such a comment counts for the whole statement, or the whole header of a compound statement, in which it stands.
"""

from __future__ import annotations

import contextlib
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence

from autodetach.finding import Finding
from autodetach.source import Source

_MARKER = re.compile(rb"noqa|autodetach\s*:", re.IGNORECASE)
_CODE = r"(?:[a-z]+\d+|[a-z]+(?:-[a-z]+)+)"
# Words behind the colon that are no code silence nothing: to read them as no words would hide more than was asked for.
_NOQA = re.compile(rf"#\s*noqa(?![-\w])(?:\s*:\s*(?P<codes>{_CODE}(?:[,\s]+{_CODE})*)|(?!\s*:))", re.IGNORECASE)
_IGNORE = re.compile(r"#\s*autodetach\s*:\s*ignore(?:\[(?P<codes>[^\]]*)\]|(?![-\w\[]))", re.IGNORECASE)


def visible(source: Source, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that no comment silences. Source that cannot be tokenised to its end is read up to there."""
    findings = tuple(findings)
    if not findings or not _MARKER.search(source.raw):
        return findings
    comments = _comments_by_line(source)

    def is_silenced(finding: Finding) -> bool:
        line = source.position(finding.span.start).line
        return any(is_silenced_by(comment, finding) for comment in comments.get(line, ()))

    return tuple(finding for finding in findings if not is_silenced(finding))


def is_silenced_by(comment: str, finding: Finding) -> bool:
    """Whether the text of a comment, `#` included, silences the finding: by code, prefix, name, or any."""
    matches = (match for pattern in (_NOQA, _IGNORE) for match in pattern.finditer(comment))
    return any(
        match["codes"] is None or any(_names(code, finding) for code in re.split(r"[,\s]+", match["codes"]))
        for match in matches
    )


def _names(code: str, finding: Finding) -> bool:
    return bool(code) and (finding.code.startswith(code.upper()) or finding.name == code.lower())


def _comments_by_line(source: Source) -> dict[int, Sequence[str]]:
    """For every line of a statement that holds comments, all comments of that statement."""
    lines = (source.line_text(line) + "\n" for line in range(1, source.line_count + 1))
    by_line: dict[int, Sequence[str]] = {}
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        for first, last, comments in _statements(tokenize.generate_tokens(lambda: next(lines, ""))):
            by_line.update((line, comments) for line in range(first, last + 1))
    return by_line


def _statements(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[tuple[int, int, Sequence[str]]]:
    first: int | None = None
    comments: list[str] = []
    layout = {tokenize.NL, tokenize.INDENT, tokenize.DEDENT}
    for token in tokens:
        if token.type == tokenize.COMMENT:
            comments += [token.string] if first is not None else []
        elif token.type == tokenize.NEWLINE:
            if first is not None and comments:
                yield first, token.start[0], comments
            first, comments = None, []
        elif token.type not in layout and first is None:
            first = token.start[0]
