"""Where whole lines are taken out, the blank lines above and below them do not add up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from autodetach.source import Edit

MOST = 8
"""So many blank lines are looked at on each side."""


def without_surplus(raw: bytes, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits of a text, in order, of which some may take more blank lines away: as many stay as were on one side."""
    found = list(edits)
    begin = None
    for at, edit in enumerate(edits):
        if not _takes_lines(raw, edit):
            begin = None
            continue
        if begin is None or edits[at - 1].end != edit.start:
            begin = edit.start
        following = edits[at + 1].start if at + 1 < len(edits) else len(raw) + 1
        end = _end_of(raw, edit.end, min(_blank_above(raw, begin), _blank_below(raw, edit.end)))
        if end < following and edit.end != following:
            found[at] = edit._replace(end=end)
    return tuple(found)


def _takes_lines(raw: bytes, edit: Edit) -> bool:
    """Whether an edit takes whole lines out and puts nothing in their place."""
    starts, ends = (at == 0 or raw[at - 1 : at] == b"\n" for at in (edit.start, edit.end))
    return not edit.replacement and edit.start < edit.end and starts and ends


def _blank_above(raw: bytes, at: int) -> int:
    """How many blank lines end at a place."""
    return _blank(raw[:at].split(b"\n")[-2 : -MOST - 2 : -1])


def _blank_below(raw: bytes, at: int) -> int:
    """How many blank lines begin at a place, if something follows on them."""
    return _blank(raw[at:].split(b"\n", MOST)[:MOST]) if raw[at:].strip() else 0


def _blank(lines: Sequence[bytes]) -> int:
    return sum(1 for _ in takewhile(lambda line: not line.strip(), lines))


def _end_of(raw: bytes, at: int, lines: int) -> int:
    """The place so many lines further on."""
    for _ in range(lines):
        at = raw.index(b"\n", at) + 1
    return at
