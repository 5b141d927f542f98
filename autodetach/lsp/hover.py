"""What is shown about a finding under the cursor: its story, and the page of its rule."""

from __future__ import annotations

from collections.abc import Sequence

from autodetach.lsp.pages import link_to, page_of
from autodetach.lsp.places import Places
from autodetach.report import Located


def hover_text(findings: Sequence[Located], places: Places) -> str:
    """Markdown about findings in one place."""
    return "\n\n---\n\n".join(_about(located, places) for located in findings)


def _about(located: Located, places: Places) -> str:
    finding = located.finding
    link = link_to(finding.code)
    name = f"{finding.code} {finding.name}"
    lines = [f"**{name if link is None else f'[{name}]({link})'}**: {_escaped(finding.message)}", ""]
    for number, step in enumerate(finding.story, start=1):
        path = located.path_of(step.path)
        at = places.line(path, located.source_of(step.path), step.line)
        row = at.range.start.line + 1
        shown = f"{located.source_of(step.path).path}:{row}" if located.is_elsewhere(step.path) else f"line {row}"
        lines.append(f"{number}. [{shown}]({at.uri}#L{row}): {_escaped(step.text)}")
    lines += [f"\nAssumed: {_escaped(text)}" for text in finding.assumptions]
    lines += [f"\nObserved in the run: {_escaped(text)}" for text in finding.observed]
    page = page_of(finding.code)
    if page is not None:
        lines += ["", "---", "", page.strip()]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    """Text of ours, which uses backticks for code, so that Markdown reads nothing else into it."""
    parts = text.split("`")
    for n in range(0, len(parts), 2):
        for character in "\\*_[]<>#":
            parts[n] = parts[n].replace(character, "\\" + character)
    return "`".join(parts)
