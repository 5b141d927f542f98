"""Edits become a unified diff.

Nothing is compared: which lines change is known from the edits, so hunks are built, not searched for. A patch has to
hold the very bytes of the file, and a patch over several files may hold several encodings; so its text is the bytes
read as UTF-8 with `surrogateescape`, which loses none, whatever the file declares. Only a line feed ends a line of a
patch: a carriage return is a character of its line, as it is for git and patch.
"""

from __future__ import annotations

import io
import posixpath
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from unidiff.constants import (
    LINE_TYPE_ADDED,
    LINE_TYPE_CONTEXT,
    LINE_TYPE_NO_NEWLINE,
    LINE_TYPE_REMOVED,
    LINE_VALUE_NO_NEWLINE,
)
from unidiff.patch import Hunk, Line, PatchedFile

from autodetach.source import Edit, Source

_ESCAPES = {ord(character): f"\\{letter}" for character, letter in zip('\a\b\t\n\v\f\r"\\', 'abtnvfr"\\', strict=True)}


def patched_file(
    source: Source, edits: Sequence[Edit], path: str, context: int = 3, prefixes: tuple[str, str] = ("a/", "b/")
) -> PatchedFile:
    """The change that `edits` make to `source`, as the object that unidiff would parse from its patch.

    `path` is relative, with slashes; `context` counts lines. Edits that change nothing give a file without hunks. Print
    it with `render` or `render_bytes`. Raises what `Source.splices` raises.
    """
    path = posixpath.normpath(path).lstrip("/")
    file = PatchedFile(source=_quoted(f"{prefixes[0]}{path}"), target=_quoted(f"{prefixes[1]}{path}"))
    lines = io.BytesIO(source.raw).readlines()
    grown = 0
    for changes in _near(_changes(source, edits, lines), 2 * context):
        hunk = _hunk(changes, lines, context, grown)
        grown += hunk.target_length - hunk.source_length
        file.append(hunk)
    return file


def render(files: Iterable[PatchedFile]) -> str:
    """One patch over several files; those without hunks are left out.

    Bytes that are not UTF-8 are lone surrogates in it (`surrogateescape`): good for a parser, not for every stream.
    """
    # str(file) would do but for the tab by which git and patch know where a name with a space ends.
    return "".join(
        f"--- {file.source_file}{_tab(file.source_file)}\n+++ {file.target_file}{_tab(file.target_file)}\n"
        + "".join(map(str, file))
        for file in files
        if file
    )


def render_bytes(files: Iterable[PatchedFile]) -> bytes:
    """The same patch as the bytes that `git apply` and `patch -p1` need, each file in its own encoding and newlines.

    Where patch opens files in text mode (Windows), files with CR LF need its option `--binary`.
    """
    return render(files).encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class _Change:
    """The lines `start:end` of the old file, counted from 0, become `new`."""

    start: int
    end: int
    new: tuple[bytes, ...]


def _changes(source: Source, edits: Sequence[Edit], lines: Sequence[bytes]) -> list[_Change]:
    """What the edits do to whole lines: sorted, a line or more apart, with no equal line at either end."""
    starts = list(accumulate(map(len, lines), initial=0))
    reachable = starts if not lines or lines[-1].endswith(b"\n") else starts[:-1]
    blocks: list[tuple[int, int, list[tuple[int, int, bytes]]]] = []
    for splice in source.splices(edits):
        first = bisect_right(reachable, splice[0]) - 1
        # The line in which an edit ends is taken whole, even if it ends at its start: the new text may run into it.
        last = min(bisect_right(reachable, splice[1]), len(lines))
        if blocks and (first < blocks[-1][1] or first == blocks[-1][1] == len(lines)):
            blocks[-1] = (blocks[-1][0], last, [*blocks[-1][2], splice])
        else:
            blocks.append((first, last, [splice]))

    changes: list[_Change] = []
    for first, last, splices in blocks:
        pieces: list[bytes] = []
        copied = starts[first]
        for start, end, new in splices:
            pieces += (source.raw[copied:start], new)
            copied = end
        pieces.append(source.raw[copied : starts[last]])
        change = _trimmed(lines, _Change(first, last, tuple(io.BytesIO(b"".join(pieces)).readlines())))
        if changes and changes[-1].end == change.start:
            before = changes.pop()
            change = _Change(before.start, change.end, before.new + change.new)
        if change.start < change.end or change.new:
            changes.append(change)
    return changes


def _trimmed(lines: Sequence[bytes], change: _Change) -> _Change:
    start, end, new = change.start, change.end, change.new
    limit = min(end - start, len(new))
    head = next((i for i in range(limit) if lines[start + i] != new[i]), limit)
    limit -= head
    tail = next((i for i in range(limit) if lines[end - 1 - i] != new[-1 - i]), limit)
    return _Change(start + head, end - tail, new[head : len(new) - tail])


def _near(changes: Sequence[_Change], distance: int) -> list[list[_Change]]:
    """Changes with at most `distance` lines between them share a hunk, as in git."""
    groups: list[list[_Change]] = []
    for change in changes:
        if groups and change.start - groups[-1][-1].end <= distance:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(changes: Sequence[_Change], lines: Sequence[bytes], context: int, grown: int) -> Hunk:
    first = max(0, changes[0].start - context)
    last = min(len(lines), changes[-1].end + context)
    old_length = last - first
    new_length = old_length + sum(len(change.new) - (change.end - change.start) for change in changes)
    # A side without lines is numbered by the line before it.
    hunk = Hunk(first + (old_length > 0), old_length, first + grown + (new_length > 0), new_length)

    old, new = first + 1, first + grown + 1

    def put(kind: str, raw_lines: Sequence[bytes]) -> None:
        nonlocal old, new
        for raw in raw_lines:
            ended = raw.endswith(b"\n")
            value = raw.decode("utf-8", "surrogateescape") + ("" if ended else "\n")
            old_number = None if kind == LINE_TYPE_ADDED else old
            new_number = None if kind == LINE_TYPE_REMOVED else new
            hunk.append(Line(value, kind, old_number, new_number))
            old += old_number is not None
            new += new_number is not None
            if not ended:
                hunk.append(Line(LINE_VALUE_NO_NEWLINE + "\n", LINE_TYPE_NO_NEWLINE))

    copied = first
    for change in changes:
        put(LINE_TYPE_CONTEXT, lines[copied : change.start])
        put(LINE_TYPE_REMOVED, lines[change.start : change.end])
        put(LINE_TYPE_ADDED, change.new)
        copied = change.end
    put(LINE_TYPE_CONTEXT, lines[copied:last])
    return hunk


def _tab(name: str) -> str:
    return "\t" if " " in name else ""


def _quoted(path: str) -> str:
    """A path as git prints it: in quotes, with escapes, if it holds control characters, quotes or non-ASCII bytes."""
    raw = path.encode("utf-8", "surrogateescape")
    escaped = "".join(_ESCAPES.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}") for byte in raw)
    return path if escaped == path else f'"{escaped}"'
