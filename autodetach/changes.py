"""What becomes of files, as one patch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from autodetach.checker import Change
from autodetach.config import posix
from autodetach.source import Edit, Part, Source


def patch_of(changes: Iterable[Change]) -> bytes:
    """A patch over all files, each in its own encoding; of notebooks one for each cell, which is only for reading."""
    from autodetach.patch import patched_file, render_bytes

    ordered = sorted(changes, key=lambda change: change.original.path)
    files = []
    for change in ordered:
        path = _path_in_patch(change)
        for part in change.original.parts(change.edits):
            if part.cell is None:
                files.append(patched_file(part.source, part.edits, path))
            else:
                # No file has the name of a cell, so its patch is for people, and looks it.
                source, edits = _with_last_newline(part)
                files.append(patched_file(source, edits, f"{path}{part.in_cell}", prefixes=("", "")))
    return render_bytes(files)


def has_cells(changes: Iterable[Change]) -> bool:
    """Whether a patch of the changes would be one of cells, which no program can apply."""
    return any(part.cell is not None for change in changes for part in change.original.parts(change.edits))


def _with_last_newline(part: Part) -> tuple[Source, Sequence[Edit]]:
    """The text of a cell with the newline that cells do without, and its edits."""
    cell, newline = part.source, part.source.newline
    if cell.text.endswith(("\n", "\r")):
        return cell, part.edits
    source = Source(cell.path, cell.raw + newline.encode(), cell.text + newline, cell.encoding, newline)
    return source, part.edits if cell.apply(part.edits) else (Edit(0, len(source.raw), ""),)


def _path_in_patch(change: Change) -> str:
    """Relative to the current folder, so that `git apply -p1` and `patch -p1` find it from there."""
    if not os.path.isabs(change.original.path):
        return posix(change.original.path)
    return posix(os.path.relpath(os.path.realpath(change.path), os.path.realpath(os.getcwd())))
