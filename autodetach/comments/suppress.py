"""Comments that silence findings.

# noqa: AD101                           the statement, or the header of a compound statement, in which it stands
# autodetach: ignore[AD101] why         the same; several codes, prefixes or names with commas, or no brackets for all
# autodetach: off[AD101] why            on a line of its own: from here to `# autodetach: on`, or, without that, to
# autodetach: on                        the end of the block in which it stands
# autodetach: ignore-file[AD101] why    on a line of its own: the file
"""

from __future__ import annotations

import contextlib
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from autodetach.comments.marks import may_silence
from autodetach.finding import Finding
from autodetach.source import Source

_CODE = r"(?:[a-z]+\d+|[a-z]+(?:-[a-z]+)+)"
# Words behind the colon that are no code silence nothing: to read them as no words would hide more than was asked for.
_NOQA = rf"#\s*(?P<noqa>noqa)(?![-\w])(?:\s*:\s*(?P<noqa_codes>{_CODE}(?:[,\s]+{_CODE})*)|(?!\s*:))"
_OURS = r"#\s*autodetach\s*:\s*(?P<kind>ignore-file|ignore|off)(?:\[(?P<codes>[^\]]*)\]|(?![-\w\[]))"
_ON = r"#\s*autodetach\s*:\s*(?P<on>on)(?![-\w\[])"
_DIRECTIVE = re.compile(f"{_NOQA}|{_OURS}|{_ON}", re.IGNORECASE)
_LAYOUT = {tokenize.NL, tokenize.INDENT, tokenize.DEDENT}
_TAB = 8

Kind = Literal["noqa", "ignore", "off", "on", "ignore-file"]


@dataclass(frozen=True, slots=True)
class Code:
    """A code, a prefix or a name in a comment, and its bytes in the file."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment: its bytes in the file, and whether it has its line for itself."""

    start: int
    end: int
    alone: bool


@dataclass(frozen=True, slots=True)
class Directive:
    """A part of a comment that silences findings whose line is one of `first` to `last`; none if `first` is 0.

    `start:end` are its bytes, `codes_end` is where the brackets, or the codes, end. `codes` is None where it means all
    rules. `partner` is the `on` of an `off`, and the `off` of an `on`, by its start.
    """

    kind: Kind
    comment: Comment
    start: int
    end: int
    codes_end: int
    codes: tuple[Code, ...] | None
    first: int = 0
    last: int = 0
    partner: int | None = None

    def mark_for(self, finding: Finding, line: int) -> int | None:
        """Where the words stand that silence a finding of this line; None if it is not silenced."""
        if self.kind == "on" or not self.first <= line <= self.last:
            return None
        if self.codes is None:
            return self.start
        return next((code.start for code in self.codes if means(code.text, finding.code, finding.name)), None)


@dataclass(frozen=True, slots=True)
class Sifted:
    """Findings that no comment silences, and where the words stand that silence the others."""

    visible: tuple[Finding, ...]
    used: frozenset[int] = frozenset()


def sift(source: Source, findings: Iterable[Finding]) -> Sifted:
    """Part the findings of a source. Source that cannot be tokenised to its end is read up to there."""
    findings = tuple(findings)
    if not findings or not may_silence(source.raw):
        return Sifted(findings)
    # Of several that silence one finding, the closest and most exact is the one that is needed.
    known = sorted(directives(source), key=lambda d: (d.last - d.first, d.codes is None, d.kind == "noqa", d.start))
    visible, used = [], set()
    for finding in findings:
        line = source.position(finding.span.start).line
        mark = next((mark for d in known if (mark := d.mark_for(finding, line)) is not None), None)
        if mark is None:
            visible.append(finding)
        else:
            used.add(mark)
    return Sifted(tuple(visible), frozenset(used))


def means(text: str, code: str, name: str) -> bool:
    """Whether a text is the code of a rule, a prefix of it, or its name, in any case."""
    return bool(text) and (code.startswith(text.upper()) or name.casefold() == text.casefold())


def directives(source: Source) -> tuple[Directive, ...]:
    """All comments of a source that silence something, in their order."""
    if not may_silence(source.raw):
        return ()
    return tuple(sorted(_Reader(source).read(), key=lambda d: d.start))


def statement_end(source: Source, line: int) -> tuple[int, int] | None:
    """Of the statement in which a line lies: its first line, and the byte offset behind its last token but a comment.

    Of a compound statement only the header counts. None if there is none, or if the source cannot be tokenised.
    """
    lines = (source.line_text(number) + "\n" for number in range(1, source.line_count + 1))
    first: int | None = None
    end = (0, 0)
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type == tokenize.NEWLINE:
                if first is not None and first <= line <= token.start[0]:
                    return first, _offset(source, *end)
                first = None
            elif token.type not in _LAYOUT and token.type != tokenize.COMMENT:
                first = token.start[0] if first is None else first
                end = token.end
    return None


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._done: list[Directive] = []
        self._in_statement: list[Directive] = []
        # The `off` that are in force, each with the column at which it stands.
        self._open: list[tuple[int, Directive]] = []

    def read(self) -> list[Directive]:
        source = self._source
        lines = (source.line_text(line) + "\n" for line in range(1, source.line_count + 1))
        first: int | None = None
        with contextlib.suppress(tokenize.TokenError, SyntaxError):
            for token in tokenize.generate_tokens(lambda: next(lines, "")):
                line = token.start[0]
                if token.type == tokenize.COMMENT:
                    self._comment(token, within=first is not None)
                elif token.type == tokenize.NEWLINE:
                    if first is not None:
                        self._done += (replace(d, first=first, last=line) for d in self._in_statement)
                    first, self._in_statement = None, []
                elif token.type not in _LAYOUT and first is None:
                    first = line
                    self._leave_blocks(_column(token), line - 1)
        self._leave_blocks(-1, source.line_count)
        return self._done

    def _comment(self, token: tokenize.TokenInfo, *, within: bool) -> None:
        line, column = token.start
        start = _offset(self._source, line, column)
        comment = Comment(start, _offset(self._source, line, token.end[1]), not token.line[:column].strip())
        for directive in self._directives(token.string, comment, line, column):
            if directive.kind in ("noqa", "ignore"):
                (self._in_statement if within else self._done).append(directive)
            elif not comment.alone:
                self._done.append(directive)
            elif directive.kind == "ignore-file":
                self._done.append(replace(directive, first=1, last=max(1, self._source.line_count)))
            elif directive.kind == "off":
                self._open.append((_column(token), replace(directive, first=line)))
            else:
                self._close(directive, line)

    def _close(self, on: Directive, line: int) -> None:
        if self._open:
            off = replace(self._open.pop()[1], last=line, partner=on.start)
            self._done.append(off)
            on = replace(on, partner=off.start)
        self._done.append(on)

    def _leave_blocks(self, column: int, last: int) -> None:
        """End what stands deeper than a statement at this column; from the file's end on, everything."""
        for at, off in [one for one in self._open if one[0] > column]:
            self._open.remove((at, off))
            self._done.append(replace(off, last=max(off.first, last)))

    def _directives(self, text: str, comment: Comment, line: int, column: int) -> Iterator[Directive]:
        def at(index: int) -> int:
            return _offset(self._source, line, column + index)

        for match in _DIRECTIVE.finditer(text):
            group = "noqa_codes" if match["noqa"] else "codes"
            codes: tuple[Code, ...] | None = None
            if match[group] is not None:
                words = re.finditer(r"[^,\s]+", match[group])
                first = match.start(group)
                codes = tuple(Code(w[0], at(first + w.start()), at(first + w.end())) for w in words)
            kind: Kind = "noqa" if match["noqa"] else "on" if match["on"] else match["kind"].lower()  # type: ignore[assignment]
            end = match.end()
            if kind != "noqa":
                # The reason belongs to it; what another program reads begins with a mark of its own.
                following = re.compile(r"\s*#").search(text, end)
                end = following.start() if following else len(text.rstrip())
            yield Directive(kind, comment, at(match.start()), at(end), at(match.end()), codes)


def _offset(source: Source, line: int, column: int) -> int:
    return source.line_span(line).start + len(source.line_text(line)[:column].encode(source.encoding))


def _column(token: tokenize.TokenInfo) -> int:
    return len(token.line[: token.start[1]].rpartition("\f")[2].expandtabs(_TAB))
