"""A comment silences nothing.

## What it does
Reports a comment for this tool that silences no finding, or a code in it that does not: `# autodetach: ignore`, `off`,
`on` and `ignore-file`, and codes of this tool in a `# noqa`. Codes of other tools are none of its business.

## Why is this bad
The comment says that there is a fault where there is none, and would hide one that comes later.

## Example
```python
total += loss.item()  # autodetach: ignore[AD101] the run is short
```

## Use instead
```python
total += loss.item()
```

## Fix safety
Safe: only the comment, or the code in it, is removed; no code of another tool and no other text.

## When it stays silent
For rules that are switched off in this run, for a plain `# noqa`, where a file was analysed only partly, and where a
file that this run has not looked at imports the one with the comment, since it may show the fault. No comment without
codes silences it; `# autodetach: ignore[AD901]` does.

## References
- https://docs.astral.sh/ruff/rules/unused-noqa/
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from autodetach.comments.suppress import Code, Directive, directives, means
from autodetach.decoding import SourceError
from autodetach.finding import Applicability, Finding, Fix, Severity
from autodetach.rules import RULES
from autodetach.source import Edit, Source, Span
from autodetach.suspect import Suspect, rule
from autodetach.view.program import Program


def _find(_: Program) -> Iterator[Suspect]:
    """Nothing: it is no fault of a program, but of the comments once all programs are known."""
    return iter(())


RULE = rule(__doc__, "AD901", "unused-ignore", _find)


def unused(source: Source, used: Collection[int], codes: frozenset[str] | None) -> tuple[Finding, ...]:
    """The comments, and codes in comments, that silence nothing, with the fix that removes them.

    `used` are the places that `suppress.sift` calls needed, `codes` the rules that were looked for, None for all.
    """
    known = directives(source)
    if any(d.kind == "ignore-file" and d.codes is None and d.start in used for d in known):
        return ()
    by_start = {d.start: d for d in known}
    found = [finding for d in known if (finding := _judged(source, d, by_start, used, codes)) is not None]
    return tuple(finding for finding in found if not _is_silenced(source, finding, known))


def _is_silenced(source: Source, finding: Finding, known: tuple[Directive, ...]) -> bool:
    """Whether a comment says so that names this very rule: no other may keep itself from being found."""
    line = source.position(finding.span.start).line
    return any(d.first <= line <= d.last and _is_own(code) for d in known for code in d.codes or ())


def _judged(
    source: Source, d: Directive, by_start: dict[int, Directive], used: Collection[int], codes: frozenset[str] | None
) -> Finding | None:
    if d.kind == "on":
        return None if d.partner is not None else _finding(source, d, (), by_start)
    if d.codes is None:
        judged = d.kind != "noqa" and d.start not in used and _are_on(frozenset(r.code for r in RULES), codes)
        return _finding(source, d, (), by_start) if judged else None
    idle = tuple(code for code in d.codes if code.start not in used and _is_judged(code, d, codes))
    if idle or (not d.codes and d.kind != "noqa"):
        return _finding(source, d, idle, by_start)
    return None


def _is_own(code: Code) -> bool:
    return RULE.name == code.text.casefold() or code.text.upper() in ("AD9", "AD90", "AD901")


def _is_judged(code: Code, d: Directive, codes: frozenset[str] | None) -> bool:
    if _is_own(code):
        return False
    meant = frozenset(r.code for r in RULES if means(code.text, r.code, r.name))
    if d.kind == "noqa" and not (meant and (re.fullmatch(r"(?i)AD\d+", code.text) or "-" in code.text)):
        return False
    return _are_on(meant, codes)


def _are_on(meant: frozenset[str], codes: frozenset[str] | None) -> bool:
    return codes is None or meant <= codes


def _finding(source: Source, d: Directive, idle: tuple[Code, ...], by_start: dict[int, Directive]) -> Finding:
    whole = len(idle) == len(d.codes or ())
    partner = by_start.get(d.partner) if d.partner is not None else None
    text = source.text_of(Span(d.start, d.codes_end))
    if whole:
        span, what = Span(d.start, d.codes_end), f"`{text}`"
        edits = _without(source, d) + (_without(source, partner) if partner is not None else ())
        message = "remove the comment"
    else:
        words = ", ".join(f"`{code.text}`" for code in idle)
        span, what = Span(idle[0].start, idle[-1].end), f"{words} in `{text}`"
        edits = _without_codes(d, idle)
        message = f"remove {words} from the comment"
    return Finding(
        RULE.code,
        RULE.name,
        f"{what} {_fault(d, idle)}",
        Severity.WARNING,
        span,
        fix=_fix(source, message, edits),
    )


def _fault(d: Directive, idle: tuple[Code, ...]) -> str:
    if d.kind == "on":
        return "ends nothing: there is no `# autodetach: off` before it"
    if d.kind in ("off", "ignore-file") and not d.comment.alone:
        return "silences nothing: it must have a line of its own"
    if not d.first:
        return "silences nothing: it must stand in the statement that it is for"
    if d.codes == ():
        return "silences nothing: no rule stands in its brackets"
    unknown = [code.text for code in idle if not any(means(code.text, r.code, r.name) for r in RULES)]
    if unknown:
        return f"silences nothing: there is no rule `{unknown[0]}`"
    return "silences nothing"


def _fix(source: Source, message: str, edits: tuple[Edit, ...]) -> Fix | None:
    try:
        # A comment of the first lines may go only if no other one comes to stand where an encoding is declared.
        source.with_edits(edits)
    except (SourceError, ValueError):
        return None
    return Fix(message, Applicability.SAFE, tuple(sorted(edits, key=lambda edit: edit.start)))


def _without_codes(d: Directive, idle: tuple[Code, ...]) -> tuple[Edit, ...]:
    """The codes that stay are not touched, so that it is known where they are; each keeps the separator behind it."""
    codes = d.codes or ()
    last = max(n for n, code in enumerate(codes) if code not in idle)
    inner = (Edit(codes[n].start, codes[n + 1].start, "") for n in range(last) if codes[n] in idle)
    return (*inner, Edit(codes[last].end, codes[-1].end, "")) if last < len(codes) - 1 else tuple(inner)


def _without(source: Source, d: Directive) -> tuple[Edit, ...]:
    """The file without a directive: the comment goes too if nothing else is in it, and its line if it was alone."""
    comment = d.comment
    before = source.text_of(Span(comment.start, d.start))
    after = source.text_of(Span(d.end, comment.end))
    if after.strip() and d.kind == "noqa" and not after.lstrip().startswith("#"):
        # Whatever it says, it is not ours to remove.
        return (Edit(d.start, d.end + _leading_bytes(after, source), "# "),)
    if after.strip():
        return (Edit(d.start, d.end + _leading_bytes(after, source), ""),)
    line = source.position(d.start).line
    span = source.line_span(line)
    if comment.alone and not before.strip():
        return (Edit(span.start, span.end, ""),)
    left = source.text_of(Span(span.start, d.start))
    return (Edit(span.start + len(left.rstrip().encode(source.encoding)), comment.end, ""),)


def _leading_bytes(text: str, source: Source) -> int:
    return len(text[: len(text) - len(text.lstrip())].encode(source.encoding))
