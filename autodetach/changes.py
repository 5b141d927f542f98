"""What becomes of files: as one patch, or on disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from autodetach.checks import Change
from autodetach.finding import Problem
from autodetach.settings.config import posix
from autodetach.source import Edit, Source
from autodetach.task import Outcome

if TYPE_CHECKING:
    from autodetach.places import Part

NOTE_ON_CELLS = "note: patches of cells are for reading, and no program can apply them: `autodetach fix` does"


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


def write(changes: Sequence[Change], outcomes: Iterable[Outcome] | None) -> tuple[Problem, ...]:
    """Write what is changed. A problem for each file that is left as it was; its path is as shown.

    Repairs that were proven together are written together: where one file cannot be, the others that rest on it are
    left alone as well. Without `outcomes` all are taken to be of one program.
    """
    from autodetach.disk.write import Replacement, WriteError, replace_together

    problems: list[Problem] = []
    for group in [changes] if outcomes is None else _groups(changes, outcomes):
        try:
            replace_together([Replacement(one.path, one.original.stored, one.stored) for one in group])
        except WriteError as error:
            at = next(one.original.path for one in group if one.path == error.path)
            problems.append(Problem(at, str(error)))
            for one in group:
                if one.path in error.replaced:
                    problems.append(Problem(one.original.path, f"is repaired, though {at}, which goes with it, is not"))
                elif one.path != error.path:
                    problems.append(Problem(one.original.path, f"left as it was: its repair goes with that of {at}"))
    return tuple(problems)


def _groups(changes: Sequence[Change], outcomes: Iterable[Outcome]) -> list[list[Change]]:
    """The changes, those together that one program has read."""
    group_of = {change.path: {change.path} for change in changes}
    for outcome in outcomes:
        seen = [path for path in (outcome.file.path, *outcome.imported) if path in group_of]
        whole = set().union(*(group_of[path] for path in seen))
        group_of.update(dict.fromkeys(whole, whole))
    groups: dict[int, list[Change]] = {}
    for change in changes:
        groups.setdefault(id(group_of[change.path]), []).append(change)
    return list(groups.values())


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
        return posix(os.path.normpath(change.original.path))
    return posix(os.path.relpath(os.path.realpath(change.path), os.path.realpath(os.getcwd())))
