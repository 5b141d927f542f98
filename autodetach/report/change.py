"""What edits do to the lines of a source, as the few lines of a diff that a person wants to see."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from autodetach.source import Edit, Source

_NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """Neighbouring lines that are replaced; `line`, from 1, is the first of them, or the one that `new` goes before."""

    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def changed_lines(source: Source, edits: Iterable[Edit]) -> tuple[ChangedLines, ...]:
    """The lines that the edits touch, before and after, without newlines; raises what `Source.splices` raises."""
    return tuple(
        changed for first, last, splices in _blocks(source, edits) if (changed := _change(source, first, last, splices))
    )


_Splice = tuple[int, int, bytes]


def _blocks(source: Source, edits: Iterable[Edit]) -> Iterator[tuple[int, int, list[_Splice]]]:
    """Runs of neighbouring lines, and the edits in each."""
    block: tuple[int, int, list[_Splice]] | None = None
    for splice in source.splices(edits):
        first, last = source.position(splice[0]).line, source.position(splice[1]).line
        if block is not None and first <= block[1] + 1:
            block = (block[0], max(block[1], last), [*block[2], splice])
        else:
            if block is not None:
                yield block
            block = (first, last, [splice])
    if block is not None:
        yield block


def _change(source: Source, first: int, last: int, splices: Sequence[_Splice]) -> ChangedLines | None:
    start, end = source.line_span(first).start, source.line_span(last).end
    pieces = []
    copied = start
    for begin, stop, new_bytes in splices:
        pieces += [source.raw[copied:begin], new_bytes]
        copied = stop
    pieces.append(source.raw[copied:end])
    old, new = _lines(source.raw[start:end], source), _lines(b"".join(pieces), source)
    same = _common(old, new)
    old, new = old[same:], new[same:]
    tail = _common(old[::-1], new[::-1])
    old, new = old[: len(old) - tail], new[: len(new) - tail]
    return ChangedLines(first + same, tuple(old), tuple(new)) if old or new else None


def _lines(raw: bytes, source: Source) -> list[str]:
    lines = _NEWLINE.split(raw.decode(source.encoding))
    return lines[:-1] if lines[-1] == "" else lines


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    count = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        count += 1
    return count
